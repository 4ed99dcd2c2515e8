import stat
import subprocess
import sys

import pytest

from autograder.course import CONFIG_FILE, SECRET_FILE, CourseError, create, find_repository, open_course


def test_init_makes_a_course_folder(repository, tmp_path):
    course = create(tmp_path / "course", repository)
    assert (course.root / CONFIG_FILE).is_file()
    assert stat.S_IMODE((course.root / SECRET_FILE).stat().st_mode) == 0o600
    assert len(course.secret) == 64
    sources = sorted(path.name for path in (course.root / "source").iterdir())
    assert sources == sorted(path.stem for path in (repository / "notebooks").glob("*.ipynb"))
    beside = [inside for _, inside in course.files_beside(sources[0])]
    assert f"{course.kit}/check.py" in beside and not [name for name in beside if "pycache" in name]


def test_init_again_keeps_what_is_the_teachers(repository, tmp_path):
    course = create(tmp_path, repository)
    (tmp_path / CONFIG_FILE).write_text((tmp_path / CONFIG_FILE).read_text() + "\n# mine\n")
    (tmp_path / "source" / "part1_split_the_batch" / course.kit / "old.py").write_text("")
    secret = course.secret
    again = create(tmp_path, repository)
    assert again.secret == secret and "# mine" in (tmp_path / CONFIG_FILE).read_text()
    assert not (tmp_path / "source" / "part1_split_the_batch" / course.kit / "old.py").exists()


def test_two_courses_have_two_secrets(repository, tmp_path):
    assert create(tmp_path / "a", repository).secret != create(tmp_path / "b", repository).secret


def test_init_from_anywhere_finds_the_repository(tmp_path):
    command = [sys.executable, "-m", "autograder", "init", "my course"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "Course folder:" in said and (tmp_path / "my course" / "source" / "part1_split_the_batch").is_dir()


def test_assignments_are_found_by_a_unique_beginning(repository, tmp_path):
    course = create(tmp_path, repository)
    assert course.assignment("part1") == "part1_split_the_batch"
    with pytest.raises(CourseError, match="'nothing' is not an assignment; this course has: part1_split"):
        course.assignment("nothing")
    (tmp_path / "source" / "part1_other").mkdir()
    with pytest.raises(CourseError, match="could be part1_other or part1"):
        course.assignment("part1")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda root: (root / CONFIG_FILE).unlink(), "is not a course folder"),
        (lambda root: (root / CONFIG_FILE).write_text("c = get_config(\n"), "cannot be read"),
        (lambda root: (root / CONFIG_FILE).write_text("c = get_config()\n"), "does not call"),
    ],
)
def test_a_spoilt_course_is_told_in_one_sentence(repository, tmp_path, spoil, words):
    create(tmp_path, repository)
    spoil(tmp_path)
    with pytest.raises(CourseError, match=words):
        open_course(tmp_path)


def test_a_missing_secret_and_a_missing_release_are_named(repository, tmp_path):
    course = create(tmp_path, repository)
    (tmp_path / SECRET_FILE).unlink()
    fresh, _ = open_course(tmp_path)
    with pytest.raises(CourseError, match=r"course secret .* is missing"):
        _ = fresh.secret
    with pytest.raises(CourseError, match="generate_assignment part1_split_the_batch"):
        course.released("part1_split_the_batch", "part1_split_the_batch")


def test_without_a_repository_there_is_nothing_to_make_a_course_of(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.course.__file__", str(tmp_path / "x" / "course.py"))
    with pytest.raises(CourseError, match=r"No pyproject\.toml"):
        find_repository(tmp_path)


def test_a_file_in_the_way_is_named(repository, tmp_path):
    (tmp_path / "course").write_text("")
    with pytest.raises(CourseError, match="is a file; a course needs a folder"):
        create(tmp_path / "course", repository)
