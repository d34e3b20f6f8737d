# Sets $python to a Python 3.11 or newer, and readies the environment variables every command here needs.
# Sourced with $root set to the checkout.

new_enough() {
    command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

python=
for candidate in "${MATINEE_PYTHON:-}" "$root/.venv/bin/python" python3.13 python3.12 python3.11 python3 python; do
    if [ -n "$candidate" ] && new_enough "$candidate"; then
        python=$candidate
        break
    fi
done

if [ -z "$python" ] && command -v uv >/dev/null 2>&1; then
    # uv knows Pythons that are not on PATH, and fetches one where there is none.
    python=$(uv python find '>=3.11' 2>/dev/null) || { uv python install 3.13 && python=$(uv python find 3.13); } || python=
fi

if [ -z "$python" ]; then
    echo "Matinee needs Python 3.11 or newer, and none was found here." >&2
    echo "Install it (Debian and Ubuntu: apt-get install python3 python3-venv; macOS: brew install python), or uv." >&2
    exit 1
fi

unset PYTHONHOME
export PYTHONPATH=$root PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1
