"""Writes proofs.json: logs, keys, checkpoints and proofs for the verifier's tests.

Shares nothing with the verifier: the tree is the recursive definition of RFC 6962 § 2.1, Ed25519 is the arithmetic of
RFC 8032 § 5.1 in plain integers. Every value follows from the constants below, so a second run writes the same file.

    python3 tests/vectors/make_vectors.py
"""

import base64
import hashlib
import json
import pathlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P != 0:
        x = x * SQRT_M1 % P
    assert (x * x - x2) % P == 0
    return P - x if x & 1 != sign else x


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P
    y = (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P
    return x, y


def multiply(scalar, point):
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y)


def compress(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def expand(secret):
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little")
    scalar &= (1 << 254) - 8
    scalar |= 1 << 254
    return scalar, digest[32:]


def public_key(secret):
    return compress(multiply(expand(secret)[0], BASE))


def sign(secret, message):
    scalar, prefix = expand(secret)
    public = public_key(secret)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % L
    big_r = compress(multiply(r, BASE))
    h = int.from_bytes(hashlib.sha512(big_r + public + message).digest(), "little") % L
    return big_r + ((r + h * scalar) % L).to_bytes(32, "little")


def split(n):
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def tree_hash(leaves):
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = split(len(leaves))
    return hashlib.sha256(b"\x01" + tree_hash(leaves[:k]) + tree_hash(leaves[k:])).digest()


def inclusion_path(m, leaves):
    if len(leaves) <= 1:
        return []
    k = split(len(leaves))
    if m < k:
        return inclusion_path(m, leaves[:k]) + [tree_hash(leaves[k:])]
    return inclusion_path(m - k, leaves[k:]) + [tree_hash(leaves[:k])]


def b64(data):
    return base64.b64encode(data).decode()


class Key:
    def __init__(self, name, secret):
        self.name, self.secret = name, secret
        self.encoded = b"\x01" + public_key(secret)
        self.id = hashlib.sha256(name.encode() + b"\n" + self.encoded).digest()[:4]

    def vkey(self):
        return f"{self.name}+{self.id.hex()}+{b64(self.encoded)}"

    def line(self, text):
        return f"\u2014 {self.name} {b64(self.id + sign(self.secret, text.encode()))}\n"


def event(i):
    return json.dumps(
        {
            "actor": {"id": f"agent-{i % 3}", "kind": "agent"},
            "call_id": f"0199f000-0000-7000-8000-{i:012x}",
            "correlation": {"task_id": "สมุนไพร" if i % 2 else "T-1"},
            "latency_ms": i,
            "operation": "get_next_available_id",
            "outcome": "ok",
        },
        ensure_ascii=False,
        separators=(",", ":"),
        sort_keys=True,
    )


def main():
    origin = "materia.example/log"
    key = Key(origin, bytes(range(32)))
    next_key = Key(origin, bytes(range(32, 64)))
    witness = Key("witness.example/w1", bytes(range(64, 96)))
    cases = []
    for size in [*range(1, 18), 31, 32, 33, 100]:
        texts = [event(i) for i in range(size)]
        leaves = [text.encode() for text in texts]
        body = f"{origin}\n{size}\n{b64(tree_hash(leaves))}\n"
        checkpoint = f"{body}\n{key.line(body)}"
        for index in range(size) if size <= 17 else (0, size // 2, size - 1):
            path = "".join(f"{b64(step)}\n" for step in inclusion_path(index, leaves))
            cases.append(
                {
                    "size": size,
                    "index": index,
                    "event_json": texts[index],
                    "proof": f"c2sp.org/tlog-proof@v1\nindex {index}\n{path}\n{checkpoint}",
                    "checkpoint": checkpoint,
                }
            )
    # The last log once more, signed by the old key, the next one and a witness.
    both = f"{body}\n{key.line(body)}{next_key.line(body)}{witness.line(body)}"
    only_next = f"{body}\n{next_key.line(body)}"
    vectors = {
        "log_key": key.vkey(),
        "next_log_key": next_key.vkey(),
        "other_log_key": Key("other.example/log", bytes(range(32))).vkey(),
        "cases": cases,
        "rotation": {
            "event_json": texts[index],
            "both": f"c2sp.org/tlog-proof@v1\nindex {index}\n{path}\n{both}",
            "only_next": f"c2sp.org/tlog-proof@v1\nindex {index}\n{path}\n{only_next}",
        },
    }
    target = pathlib.Path(__file__).parent / "proofs.json"
    target.write_text(json.dumps(vectors, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


main()
