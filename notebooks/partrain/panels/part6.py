"""The panels of part 6: split the matrices."""

from partrain.figures.head_cuts import head_cuts as draw_head_cuts
from partrain.figures.matrix_cuts import matrix_cuts as draw_matrix_cuts
from partrain.figures.mlp_in_pieces import example, whole_result
from partrain.panels.panel import Panel, menu, one_of
from partrain.panels.student import ask_student_array

ORDERS = {f"{up}, then {down}": (up, down) for down in ("rows", "columns") for up in ("columns", "rows")}


def matrix_cuts(student=None):
    """Part 6: an MLP in pieces; `student` is a tensor_parallel_mlp(X, W_up, W_down, devices)."""

    def draw(devices, order):
        if student is None:
            return draw_matrix_cuts(devices, *order)
        inputs = [matrix.copy() for matrix in example()]
        answer, unfinished = ask_student_array(student, "tensor_parallel_mlp", whole_result().shape, *inputs, devices)
        return draw_matrix_cuts(devices, *order, answer, unfinished=unfinished)

    return Panel(
        draw,
        devices=one_of("Devices", 4, [1, 2, 4, 8]),
        order=menu("Cut order (W_up, then W_down)", ("columns", "rows"), ORDERS),
    )


def head_cuts():
    """Part 6: which attention heads each device holds."""
    return Panel(
        draw_head_cuts,
        heads=one_of("Heads", 12, [2, 4, 6, 8, 12, 16, 32, 40, 64, 96]),
        devices=one_of("Devices", 4, [1, 2, 3, 4, 6, 8, 12, 16]),
    )
