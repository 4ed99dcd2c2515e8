"""What a student's kernel is tried with: cells that print REACHED where they get through the wall.

Some come in two: the first leaves something behind, the second looks for it from the next student's kernel. $names are
filled in by `breakouts`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attempt:
    """What is tried, in words; the cell; the cell in the next kernel; whether it must hold without a seal, too."""

    name: str
    cell: str
    next_cell: str = ""
    unsealed: bool = False


ATTEMPTS = (
    Attempt(
        "importing the reference, the grader or nbgrader",
        """
        import importlib
        for name in $hidden:
            try:
                importlib.import_module(name)
                print('REACHED', name)
            except ImportError:
                pass
        """,
        unsealed=True,
    ),
    Attempt(
        "the teacher's environment",
        """
        import os, sys
        seen = str([*os.environ.items(), os.getcwd()])
        if '$marker' in seen or any(place in seen for place in $places):
            print('REACHED')
        """,
        unsealed=True,
    ),
    Attempt(
        "files of the repository, the course and the home folder",
        """
        import os
        for path in $places:
            if os.path.exists(path):
                print('REACHED', path)
        """,
    ),
    Attempt(
        "a server on this machine",
        """
        import socket
        for place in (('127.0.0.1', $port), ('localhost', $port)):
            try:
                socket.create_connection(place, 2)
                print('REACHED', place)
            except OSError:
                pass
        """,
    ),
    Attempt(
        "a socket of this machine's without an address",
        """
        import socket
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(chr(0) + '$marker')
            print('REACHED')
        except OSError:
            pass
        """,
    ),
    Attempt(
        "other processes of this machine",
        """
        import glob
        for path in glob.glob('/proc/[0-9]*/cmdline'):
            try:
                if '$marker' in open(path, 'rb').read().decode('utf-8', 'replace'):
                    print('REACHED')
            except OSError:
                pass
        """,
    ),
    Attempt(
        "the memory and the descriptors of the process that forks kernels",
        """
        import os
        parent = os.getppid()
        for name in ('mem', 'environ', 'maps', 'fd', 'cwd', 'root'):
            path = f'/proc/{parent}/{name}'
            try:
                if name == 'fd':
                    os.listdir(path)
                elif name in ('cwd', 'root'):
                    os.readlink(path)
                else:
                    open(path, 'rb').read(1)
                print('REACHED', name)
            except OSError:
                pass
        """,
    ),
    Attempt(
        "ending the process that forks kernels",
        """
        import os, signal
        for sent in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(os.getppid(), sent)
            except OSError:
                pass
        """,
        """
        pass
        """,
    ),
    Attempt(
        "namespaces of one's own",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for flag in (0x10000000, 0x20000, 0x20000000):
            if libc.unshare(flag) == 0:
                print('REACHED', hex(flag))
        """,
    ),
    Attempt(
        "mounting a file system",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None) == 0:
            print('REACHED')
        """,
    ),
    Attempt(
        "becoming root, or any capability",
        """
        import os
        try:
            os.setuid(0)
            print('REACHED root')
        except OSError:
            pass
        caps = [l for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapBnd'))]
        print(*('REACHED' for l in caps if int(l.split()[1], 16)))
        """,
    ),
    Attempt(
        "changing what is installed",
        """
        import numpy, os
        folder = os.path.dirname(numpy.__file__)
        for path in (numpy.__file__, os.path.join(folder, '__init__.py'), os.__file__):
            try:
                open(path, 'r+b').close()
                print('REACHED', path)
            except OSError:
                pass
        for place in (folder, os.path.dirname(folder), '/usr', '/etc'):
            if os.access(place, os.W_OK):
                print('REACHED', place)
        """,
    ),
    Attempt(
        "leaving files for the next student",
        """
        import os
        for folder in (os.path.expanduser('~'), '.', '/tmp', '/dev/shm', '/var/tmp', '/'):
            try:
                open(os.path.join(folder, '$marker'), 'w').close()
                os.makedirs(os.path.join(folder, '.ipython/profile_default/startup'), exist_ok=True)
                open(os.path.join(folder, '.ipython/profile_default/startup/a.py'), 'w').write('left = 1')
            except OSError:
                pass
        """,
        """
        import os
        for folder in (os.path.expanduser('~'), '.', '/tmp', '/dev/shm', '/var/tmp', '/'):
            if os.path.exists(os.path.join(folder, '$marker')):
                print('REACHED', folder)
        if 'left' in globals():
            print('REACHED startup')
        """,
    ),
    Attempt(
        "leaving a process for the next student",
        """
        import subprocess
        _ = subprocess.Popen(['sh', '-c', 'trap "" TERM HUP; sleep 300 # $marker'],
            start_new_session=True)
        """,
        """
        import glob
        for path in glob.glob('/proc/[0-9]*/cmdline'):
            try:
                if '$marker' in open(path, 'rb').read().decode('utf-8', 'replace'):
                    print('REACHED')
            except OSError:
                pass
        """,
    ),
    Attempt(
        "leaving shared memory for the next student",
        """
        import ctypes
        libc = ctypes.CDLL(None)
        print(libc.shmget(0x5A5A, 4096, 0o1666))
        """,
        """
        import ctypes
        if ctypes.CDLL(None).shmget(0x5A5A, 4096, 0o666) >= 0:
            print('REACHED')
        """,
    ),
    Attempt(
        "leaving modules and changed libraries for the next student",
        """
        import builtins, json, sys, types, numpy
        sys.modules['left_behind'] = types.ModuleType('left_behind')
        builtins.left_behind = numpy.left_behind = json.left_behind = 1
        """,
        """
        import json, sys, numpy
        if 'left_behind' in sys.modules or hasattr(numpy, 'left_behind') or hasattr(json, 'left_behind'):
            print('REACHED')
        try:
            print('REACHED', left_behind)
        except NameError:
            pass
        """,
        unsealed=True,
    ),
    Attempt(
        "more processes than allowed",
        """
        import os, signal, time
        made = []
        try:
            for _ in range(200):
                pid = os.fork()
                if pid == 0:
                    time.sleep(60)
                    os._exit(0)
                made.append(pid)
            print('REACHED')
        except OSError:
            pass
        for pid in made:
            os.kill(pid, signal.SIGKILL)
        """,
    ),
    Attempt(
        "more memory than allowed",
        """
        try:
            x = bytearray(8 * 2**30)
            print('REACHED')
        except MemoryError:
            pass
        """,
        unsealed=True,
    ),
    Attempt(
        "a larger file than allowed",
        """
        try:
            with open('large', 'wb') as file:
                for _ in range(64):
                    file.write(bytes(2**20))
            print('REACHED')
        except OSError:
            pass
        """,
        unsealed=True,
    ),
    Attempt(
        "more disk than allowed",
        """
        try:
            for number in range(16):
                with open(f'part{number}', 'wb') as file:
                    file.write(bytes(16 * 2**20))
            print('REACHED')
        except OSError:
            pass
        """,
    ),
)
