"""What the doctor says of the ground a course stands on."""

from autograder.course import CONFIG_FILE, create
from autograder.footing import elsewhere, private


def test_a_new_course_folder_is_closed_to_other_accounts(repository, tmp_path):
    course = create(tmp_path / "deep" / "course", repository)
    assert private(course).good
    course.root.chmod(0o755)
    assert not private(course).good and "chmod o-rwx" in private(course).said


def test_a_configuration_of_jupyters_own_that_would_give_everybody_0_is_found(repository, tmp_path, monkeypatch):
    course = create(tmp_path / "course", repository)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    assert elsewhere(course).said == "does not find this course: start it in the course folder"
    naming = f"c = get_config()\nc.CourseDirectory.root = {str(course.root)!r}\n"
    (tmp_path / CONFIG_FILE).write_text(naming)
    assert not elsewhere(course).good and "does not call configure" in elsewhere(course).said
    (tmp_path / CONFIG_FILE).write_text(
        (course.root / CONFIG_FILE)
        .read_text()
        .replace("root=Path(__file__).parent", f"root=Path({str(course.root)!r})")
    )
    assert elsewhere(course).said == "active there too"
