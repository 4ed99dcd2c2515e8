"""The `autograder` command."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from autograder import quick  # noqa: F401  before anything that imports jsonschema
from autograder.course import CourseError, create, open_course

console = Console(soft_wrap=True, highlight=False)
course_option = click.option(
    "--course",
    "root",
    default=".",
    show_default="the current folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The course folder.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="partrain-course")
def cli() -> None:
    """Grade an nbgrader course, and say what was forgotten."""


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Make FOLDER an nbgrader course: sources, student kit, configuration and a private course secret.

    Run it again to bring in newer notebooks; configuration, secret, grade book and hand-ins stay as they are.
    """
    course = create(folder, Path.cwd())
    console.print(f"Course folder: {course.root}")
    console.print("Next, in that folder: nbgrader generate_assignment PART, then nbgrader release_assignment PART.")


@cli.command()
@click.argument("part")
@course_option
@click.option("--again", is_flag=True, help="Grade all hand-ins anew, not only those without a verdict.")
@click.option("--jobs", type=click.IntRange(1), help="Hand-ins to grade side by side.  [default: all cores]")
@click.option("--require-seal", is_flag=True, help="Refuse to run student code that is not sealed off.")
@click.option("--each", is_flag=True, help="Print one line per student.")
def grade(part: str, root: Path, again: bool, jobs: int | None, require_seal: bool, each: bool) -> None:
    """Grade all hand-ins of PART (a unique beginning of its name is enough).

    Exit status 0 only if every hand-in could be graded; the last lines say which could not, and why.
    """
    from autograder import outcome
    from autograder.book import submitted
    from autograder.grade import grade as class_run
    from autograder.sandbox import POOL

    course, config = open_course(root)
    POOL.sealed_only = require_seal  # workers inherit it
    if require_seal and not sealed(course):
        raise CourseError("Student code cannot be sealed off here, and --require-seal was given: nothing was graded.")
    assignment = course.assignment(part)
    results = []
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"grading {assignment}", total=len(submitted(course.root, assignment)))
        for result in class_run(course, config, assignment, again, jobs or 0):
            results.append(result)
            progress.advance(task)
            if each:
                points = result.verdict["points"]
                said = "could not be graded" if points is None else f"{points:g} of {result.verdict['max_points']:g}"
                line = f"{result.student}: {said}{' (graded before)' if result.skipped else ''}"
                progress.console.print(line, markup=False)
    for line in outcome.graded(assignment, results):
        console.print(line, markup=False)
    broken = [result for result in results if result.log]
    for result in broken:
        click.echo(result.log, err=True)
    sys.exit(1 if any(result.ungraded for result in results) else 0)


def sealed(course) -> bool:
    """Whether a sealed kernel starts here."""
    from autograder.sandbox import POOL, BoxError

    try:
        return bool(POOL.level((course.reference,)).words)
    except BoxError:
        return False


@cli.command()
@click.argument("part")
@course_option
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
def regrade(part: str, root: Path, dry_run: bool) -> None:
    """Judge the recorded answers of PART again, after an exercise was changed; no student code runs.

    Prints whose points or message changed and why. Manual scores and comments stay. A hand-in that was asked other
    inputs than the exercise draws now keeps its verdict until it is run again with `autograder grade PART --again`.

    Exit status 0 unless some hand-in could not be read or judged.
    """
    from autograder import outcome
    from autograder.regrade import regrade as judge_again

    course, config = open_course(root)
    assignment = course.assignment(part)
    results = []
    for result in judge_again(course, config, assignment, dry_run):
        results.append(result)
        for change in result.changes:
            console.print(f"{result.student}, {change}", markup=False)
        if result.again:
            names = ", ".join(result.again)
            console.print(f"{result.student} must be run again: other inputs are asked now in {names}.", markup=False)
        if result.unread:
            click.echo(f"{result.student} was not judged again: {result.unread}.", err=True)
    for line in outcome.regraded(assignment, results, dry_run):
        console.print(line, markup=False)
    sys.exit(0 if all(result.good for result in results) else 1)


@cli.command()
@course_option
def report(root: Path) -> None:
    """Write the class report, report/index.html."""
    from autograder.report import write

    course, config = open_course(root)
    console.print(f"Class report: {write(course, _db_url(config))}")


@cli.command()
@course_option
def doctor(root: Path) -> None:
    """Check the course, its releases and its grades; exit status 1 where something is wrong."""
    from autograder.doctor import examine

    course, config = open_course(root)
    table = Table("", "what was looked at", "what was found", show_lines=False)
    findings = list(examine(course, config))
    for finding in findings:
        table.add_row("ok" if finding.good else "WRONG", finding.what, finding.said)
    console.print(table)
    sys.exit(0 if all(finding.good for finding in findings) else 1)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
def demo(folder: Path) -> None:
    """Build a course in FOLDER with a class of sample students, and grade it end to end."""
    from autograder.demo import run

    run(folder, Path.cwd(), console)


def _db_url(config) -> str:
    from nbgrader.coursedir import CourseDirectory

    return CourseDirectory(config=config).db_url


def main() -> None:
    """Entry point: what a person can put right is said in one sentence, without a traceback."""
    warnings.filterwarnings("ignore", module="nbgrader")  # its use of SQLAlchemy warns between our lines
    try:
        cli(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("autograder: interrupted; what is done is kept, and the same command goes on from there.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except CourseError as error:
        click.echo(f"autograder: {error}", err=True)
        sys.exit(2)
    except Exception as error:
        from sqlalchemy.exc import ArgumentError, OperationalError  # slow to import, and seldom needed

        if not isinstance(error, ArgumentError | OperationalError):
            raise
        said = str(getattr(error, "orig", error)).partition("\n")[0]
        click.echo(f"autograder: The grade book cannot be used (c.CourseDirectory.db_url): {said}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
