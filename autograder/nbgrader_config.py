"""The way of a submission, as nbgrader reads it. A course's nbgrader_config.py calls `configure`."""

from __future__ import annotations

import fnmatch
import os
import secrets
from pathlib import Path

from nbgrader import preprocessors as stock
from nbgrader import utils

from autograder import answer, ask, clean, feedback, intake, judge, overview, settle, stubs

RELEASE = [
    stock.IncludeHeaderFooter,
    stock.InstantiateTests,
    stock.LockCells,
    stubs.Stubs,
    stock.ClearOutput,
    stock.CheckCellMetadata,
    stock.ComputeChecksums,
    stock.SaveCells,
    stock.ClearHiddenTests,
    stock.ClearMarkScheme,
    stock.ComputeChecksums,
    stock.CheckCellMetadata,
]

SANITIZE = [
    stock.ClearOutput,
    stock.DeduplicateIds,
    stock.OverwriteKernelspec,
    stock.OverwriteCells,
    stock.CheckCellMetadata,
]

GRADE = [
    ask.Ask,
    answer.Answer,
    stock.IgnorePattern,
    stock.LimitOutput,
    judge.Judge,
    stock.SaveAutoGrades,
    stock.AssignLatePenalties,
    settle.Settle,
    clean.Clean,
    stock.CheckCellMetadata,
]

FEEDBACK = [stock.GetGrades, overview.Overview]


def configure(c, root: Path, reference: str, kit: str) -> None:
    """Put the autograder's steps into nbgrader configuration `c` of the course in folder `root`.

    reference: the package that holds the exercises; kit: the folder beside the notebook that students import from.
    """
    utils.is_ignored = is_ignored
    c.CourseSettings.root = str(Path(root).resolve())
    c.CourseSettings.reference = reference
    c.CourseSettings.kit = kit
    c.CourseDirectory.root = str(Path(root).resolve())
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "*.pyc",
        "__pycache__",
        ".pytest_cache",
        settle.ANSWERS_FILE,
        f"*{intake.RENAMED}",
    ]
    c.GenerateAssignment.preprocessors = list(RELEASE)
    c.Autograde.exporter_class = intake.IntakeExporter
    c.Autograde.pre_convert_hook = intake.Rename(root, reference, kit)
    c.Autograde.sanitize_preprocessors = list(SANITIZE)
    c.Autograde.autograde_preprocessors = list(GRADE)
    c.HTMLExporter.filters = {"markdown2html": feedback.safe_markdown}  # also in Formgrader's view of a hand-in
    c.GenerateFeedback.preprocessors = list(FEEDBACK)
    c.GenerateFeedback.exporter_class = feedback.FeedbackExporter
    c.FeedbackExporter.template_name = feedback.TEMPLATE  # over what nbgrader sets for every HTMLExporter
    c.FeedbackExporter.extra_template_basedirs = [str(feedback.TEMPLATES)]
    # Second locks, should a step of ours ever be missing: cells come back, and no tag of a student's skips one.
    c.OverwriteCells.add_missing_cells = True
    c.Execute.skip_cells_with_tag = secrets.token_hex(16)


def is_ignored(filename: str, ignore_globs: list[str] | None = None) -> bool:
    """What nbgrader's function of this name answers, by the name alone.

    nbgrader's own lists the whole folder anew for every file in it: ten thousand files beside a notebook would keep a
    class run busy for a quarter of an hour.
    """
    name = os.path.basename(filename)
    return any(
        fnmatch.fnmatchcase(name, glob) and (glob.startswith(".") or not name.startswith("."))
        for glob in ignore_globs or ()
    )
