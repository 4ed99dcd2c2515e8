"""One exercise: double a number."""

from autograder.exercise import Exercise, Mistake, call


def double(x):
    return 2 * x


ASSIGNMENTS = {
    "tiny": (
        Exercise(
            name="double",
            reference=double,
            mistakes=(Mistake("squared", lambda x: x * x, "This is the square."),),
            points=2.0,
            examples=(call(3), call(5)),
            draw=lambda rng: [call(int(rng.integers(6, 1000))) for _ in range(3)],
        ),
    )
}
