"""Runs inside the box's process, as text handed to `python -I -S -c`: limits first, then a kernel.

With -S no .pth file is read, so nothing installed as editable leads back to a repository. Arguments: the memory limit
and the file limit in bytes, the import path joined by ':', and what ipykernel itself takes.
"""

import sys


def main():
    memory, file_size, path, *kernel_arguments = sys.argv[1:]
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_size), int(file_size)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # no such limits on this system
        pass
    sys.path[:0] = [""]  # as in JupyterLab: what lies beside the notebook can be imported
    sys.path.extend(path.split(":"))
    import os
    import site  # under -S this sets no paths; the interpreter's own help() and exit() come from here

    site.setquit()
    site.sethelper()
    sys.argv = ["kernel"]
    from ipykernel.kernelapp import IPKernelApp

    kernel = IPKernelApp.instance()
    kernel.initialize(kernel_arguments)
    os.environ.pop("JPY_PARENT_PID", None)  # the kernel now watches its parent; the cells need not know of it
    kernel.start()


main()
