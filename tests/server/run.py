#!/usr/bin/env python3
"""The server of `karakuri view` as a browser meets it, and as an attacker does: fifty attacks, all refused, and the simulation goes on.

    tests/server/run.py --tool build/release/karakuri

Python's standard library alone. The last line is «N passed, N failed».
"""
import argparse
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "models" / "hrp2" / "hrp2.xml"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY = base64.b64encode(bytes(range(16))).decode()
TEXT, BYTES, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Server:
    """The tool under test."""

    def __init__(self, tool, *words):
        self.process = subprocess.Popen([str(tool), "view", *map(str, words), "--no-browser", "--json"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.token = self.url.split("/")[3]
        self.host = f"127.0.0.1:{self.port}"

    def end(self):
        self.process.terminate()
        out, err = self.process.communicate(timeout=20)
        return json.loads(out), err


def connect(server, timeout=5.0, receive=None):
    s = socket.socket()
    if receive:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    s.settimeout(timeout)
    s.connect(("127.0.0.1", server.port))
    return s


def read_all(s, seconds=5.0):
    data, end = b"", time.monotonic() + seconds
    with contextlib.suppress(OSError):
        while time.monotonic() < end and (chunk := s.recv(65536)):
            data += chunk
    return data


def ask(server, raw):
    """Sends bytes, gives the status of the answer (0: closed without one) and the whole of it."""
    with connect(server) as s:
        with contextlib.suppress(OSError):
            s.sendall(raw)
        data = read_all(s)
    words = data.split(b" ", 2)
    return (int(words[1]) if data.startswith(b"HTTP/1.1 ") and words[1].isdigit() else 0), data


def get(server, path="/{token}/", method="GET", version="HTTP/1.1", host=None, extra=(), without_host=False):
    lines = [f"{method} {path.format(token=server.token)} {version}"]
    lines += [] if without_host else [f"Host: {server.host if host is None else host}"]
    return ("\r\n".join([*lines, *extra]) + "\r\n\r\n").encode("latin-1")


def upgrade(server, path="/{token}/socket", origin="ours", host=None, key=KEY, version="13", extra=()):
    fields = [f"Upgrade: websocket", "Connection: keep-alive, Upgrade"]
    fields += [f"Origin: http://{server.host}" if origin == "ours" else f"Origin: {origin}"] if origin is not None else []
    fields += [f"Sec-WebSocket-Key: {key}"] if key is not None else []
    fields += [f"Sec-WebSocket-Version: {version}"] if version is not None else []
    return get(server, path, host=host, extra=[*fields, *extra])


def frame(kind, data=b"", last=True, masked=True, reserved=0, length=None):
    n = len(data) if length is None else length
    head = bytes([(128 if last else 0) | reserved << 4 | kind])
    bit = 128 if masked else 0
    head += bytes([bit | n]) if n < 126 else bytes([bit | 126]) + struct.pack(">H", n) if n < 65536 else bytes([bit | 127]) + struct.pack(">Q", n)
    if not masked:
        return head + data
    mask = b"\x11\x22\x33\x44"
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def long_form(data, code):
    """A frame whose length takes more bytes than it needs: 126 means two, 127 eight."""
    whole = frame(TEXT, data)
    return whole[:1] + bytes([128 | code]) + struct.pack(">H" if code == 126 else ">Q", len(data)) + whole[2 if len(data) < 126 else 4:]


class Client:
    """A well-behaved WebSocket, and a badly-behaved one by `raw`."""

    def __init__(self, server, receive=None):
        self.s = connect(server, receive=receive)
        self.s.sendall(upgrade(server))
        head = b""
        while b"\r\n\r\n" not in head:
            chunk = self.s.recv(1)
            if not chunk:
                raise OSError("closed")
            head += chunk
        self.head = head
        if not head.startswith(b"HTTP/1.1 101"):
            raise OSError(head.split(b"\r\n")[0].decode())

    def exactly(self, n):
        data = b""
        while len(data) < n:
            chunk = self.s.recv(n - len(data))
            if not chunk:
                raise OSError("closed")
            data += chunk
        return data

    def receive(self):
        first, second = self.exactly(2)
        n = second & 127
        n = struct.unpack(">H", self.exactly(2))[0] if n == 126 else struct.unpack(">Q", self.exactly(8))[0] if n == 127 else n
        return first & 15, self.exactly(n)

    def raw(self, data):
        self.s.sendall(data)

    def command(self, **words):
        self.raw(frame(TEXT, json.dumps(words).encode()))

    def steps(self):
        """How many steps the next frame has seen."""
        while True:
            kind, data = self.receive()
            if kind == BYTES:
                return struct.unpack_from("<d", data, 16)[0]

    def until(self, wanted, seconds=3.0):
        """The first text that holds a word."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            kind, data = self.receive()
            if kind == TEXT and wanted in json.loads(data):
                return json.loads(data)[wanted]
        return None

    def closed_with(self, seconds=4.0):
        """The code that the other side closes with; 0: it just went; None: it is still there."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                kind, data = self.receive()
                if kind == CLOSE:
                    return struct.unpack(">H", data[:2])[0]
        except OSError as gone:
            return None if isinstance(gone, socket.timeout) else 0
        return None

    def end(self):
        self.s.close()


class Witness(Client):
    """Reads all the time, as a browser does."""

    def __init__(self, server):
        super().__init__(server)
        self.last, self.is_gone = 0.0, False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with contextlib.suppress(OSError):
            while True:
                kind, data = self.receive()
                if kind == BYTES:
                    self.last = struct.unpack_from("<d", data, 16)[0]
        self.is_gone = True

    def goes_on(self, seconds=3.0):
        """Whether steps are taken now."""
        before, end = self.last, time.monotonic() + seconds
        while time.monotonic() < end and not self.is_gone:
            if self.last > before:
                return True
            time.sleep(0.005)
        return False


class Tally:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, name, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name} {detail}")


# ---- a browser --------------------------------------------------------------------------------------------------------

def test_browser(t, server):
    status, page = ask(server, get(server))
    t.check("the page is there", status == 200 and b"<canvas" in page, page[:80])
    t.check("the page's rules", b"Content-Security-Policy" in page and b"X-Frame-Options: DENY" in page)
    status, page = ask(server, get(server, method="HEAD"))
    t.check("its head alone", status == 200 and b"<canvas" not in page)
    status, text = ask(server, get(server, "/{token}/description.json"))
    description = json.loads(text.split(b"\r\n\r\n", 1)[1])
    t.check("the description", status == 200 and description["nv"] == 36, status)
    client = Client(server)
    accept = base64.b64encode(hashlib.sha1((KEY + GUID).encode()).digest())
    t.check("the handshake's answer", b"Sec-WebSocket-Accept: " + accept + b"\r\n" in client.head)
    t.check("the description comes first", (client.until("description") or {}).get("nv") == 36)
    first = client.steps()
    later = [client.steps() for _ in range(20)][-1]
    t.check("frames come and time goes on", later > first, f"{first} {later}")
    client.command(do="pause")
    time.sleep(0.2)
    client.command(do="step", count=1)
    client.command(do="nonsense")
    t.check("an unknown command is told", client.until("error") is not None)
    client.command(do="play")
    begun = client.steps()
    t.check("it plays again", client.steps() >= begun)
    client.command(do="edit", item="body", id=1, field="mass", value=11)
    described = client.until("description")
    t.check("an edit gives a new description", described and described["bodies"][1]["mass"] == 11)
    client.raw(frame(PING, b"hello"))
    while True:
        kind, data = client.receive()
        if kind == PONG:
            break
    t.check("a ping is answered", data == b"hello")
    client.raw(frame(TEXT, b'{"do":', last=False) + frame(0, b'"wrong"}'))
    t.check("a message in two parts", client.until("error") is not None)
    client.raw(frame(CLOSE, struct.pack(">H", 1000)))
    t.check("a close is answered", client.closed_with() == 1000)
    client.end()


# ---- attacks ----------------------------------------------------------------------------------------------------------

def requests(server):
    """Requests that must not get 200 or 101: name, bytes, statuses that are right."""
    other = "0" * 32
    secret = (403, 404, 400)
    yield "Host of another name", get(server, host=f"evil.example:{server.port}"), (403,)
    yield "Host without the port", get(server, host="127.0.0.1"), (403,)
    yield "Host with another port", get(server, host="127.0.0.1:1"), (403,)
    yield "Host that rebinds", get(server, host=f"127.0.0.1.evil.example:{server.port}"), (403,)
    yield "Host with a user", get(server, host=f"evil@127.0.0.1:{server.port}"), (403,)
    yield "no Host", get(server, without_host=True), (400,)
    yield "two Hosts", get(server, extra=[f"Host: {server.host}"]), (400,)
    yield "empty Host", get(server, host=""), (403,)
    yield "Origin of another page", get(server, extra=["Origin: http://evil.example"]), (403,)
    yield "Origin null", get(server, extra=["Origin: null"]), (403,)
    yield "socket from another page", upgrade(server, origin="http://evil.example"), (403,)
    yield "socket from another port", upgrade(server, origin="http://127.0.0.1:1"), (403,)
    yield "socket from https", upgrade(server, origin=f"https://{server.host}"), (403,)
    yield "socket from a file", upgrade(server, origin="null"), (403,)
    yield "socket without Origin", upgrade(server, origin=None), (403,)
    yield "socket by another Host", upgrade(server, host=f"evil.example:{server.port}"), (403,)
    yield "no token", get(server, "/"), secret
    yield "wrong token", get(server, f"/{other}/"), secret
    yield "half a token", get(server, f"/{server.token[:16]}/"), secret
    yield "a token and more", get(server, f"/{server.token}0/"), secret
    for place in (0, 15, 31):
        wrong = server.token[:place] + ("0" if server.token[place] != "0" else "1") + server.token[place + 1:]
        yield f"a token with one wrong sign, the {place + 1}th", get(server, f"/{wrong}/"), secret
        yield f"a socket with one wrong sign, the {place + 1}th", upgrade(server, f"/{wrong}/socket"), secret
    yield "a token that is not ended", get(server, f"/{server.token}"), secret
    yield "a token and a sign in the slash's place", get(server, f"/{server.token}xindex.html"), secret
    yield "a socket with a sign in the slash's place", upgrade(server, f"/{server.token}xsocket"), secret
    yield "token in capitals", get(server, f"/{server.token.upper()}x/"), secret
    yield "socket without token", upgrade(server, "/socket"), secret
    yield "socket with a wrong token", upgrade(server, f"/{other}/socket"), secret
    yield "token as a query", get(server, f"/?{server.token}"), secret
    for path in ("../../../../etc/passwd", "..%2f..%2f..%2fetc/passwd", "....//....//etc/passwd", "/etc/passwd", "%2e%2e/%2e%2e/etc/passwd",
                 "..\\..\\etc\\passwd", "./index.html/../../CMakeLists.txt", "mesh/-1", "mesh/999999", "mesh/99999999999999999999", "mesh/0x0",
                 "heights/../../x", "assets/../../../LICENSE", "\xff\xfe"):
        yield f"path {path!a}", get(server, "/{token}/" + path), (400, 404)
    yield "POST", get(server, method="POST", extra=["Content-Length: 5"]) + b"hello", (400, 405, 413)
    yield "DELETE", get(server, method="DELETE"), (405,)
    yield "a body with GET", get(server, extra=["Content-Length: 1000000000"]), (413,)
    yield "a chunked body", get(server, extra=["Transfer-Encoding: chunked"]), (413,)
    yield "HTTP/0.9", b"GET /\r\n\r\n", (400,)
    yield "HTTP/9.9", get(server, version="HTTP/9.9"), (400,)
    yield "a line feed alone", get(server).replace(b"\r\nHost", b"\nHost"), (400, 403)
    yield "a zero byte", get(server, extra=["X: a\0b"]), (400,)
    yield "a folded field", get(server, extra=["X: a", " b"]), (400,)
    yield "a field without a name", get(server, extra=[": b"]), (400,)
    yield "a head of 1 MB", get(server, extra=["X: " + "a" * (1 << 20)]), (431, 0)
    yield "a path of 100 kB", get(server, "/" + "a" * 100000), (431, 0)
    yield "TLS", bytes.fromhex("16030100f8010000f40303") + os.urandom(200) + b"\r\n\r\n", (400, 0)
    yield "noise", os.urandom(2000) + b"\r\n\r\n", (400, 0)
    yield "socket with a short key", upgrade(server, key="abc"), (400,)
    yield "socket with a key of 24 signs that is no base64", upgrade(server, key="!" * 24), (400,)
    yield "socket with a key of 17 bytes", upgrade(server, key="AAAAAAAAAAAAAAAAAAAAAAA="), (400,)
    yield "socket without a key", upgrade(server, key=None), (400,)
    yield "socket of an old version", upgrade(server, version="8"), (400,)
    yield "socket to another path", upgrade(server, "/{token}/other"), (404,)
    yield "frames before the answer", upgrade(server) + frame(TEXT, b"{}"), (400,)


def frames():
    """What breaks the rules of an open socket: name, bytes, codes that are right."""
    yield "a frame without mask", frame(TEXT, b"{}", masked=False), (1002,)
    yield "reserved bits", frame(TEXT, b"{}", reserved=4), (1002,)
    yield "an unknown kind", frame(5, b"{}"), (1002,)
    yield "an unknown control", frame(11, b""), (1002,)
    yield "a long ping", frame(PING, b"a" * 126), (1002,)
    yield "a ping in parts", frame(PING, b"a", last=False), (1002,)
    yield "a part without a start", frame(0, b"a"), (1002,)
    yield "a start inside a message", frame(TEXT, b"a", last=False) + frame(TEXT, b"b"), (1002,)
    yield "bytes", frame(BYTES, b"\0" * 100), (1003,)
    yield "words that are not UTF-8", frame(TEXT, b"\xc0\xaf\xff"), (1007,)
    yield "a surrogate", frame(TEXT, b"\xed\xa0\x80"), (1007,)
    yield "a message of 64 KiB and a byte", frame(TEXT, b" " * 65537), (1009,)
    yield "a message said to have 2^63 bytes", frame(TEXT, b"", length=1 << 63), (1009,)
    yield "a message said to have 4 GB", frame(TEXT, b"", length=1 << 32), (1009,)
    yield "parts without end", frame(TEXT, b"a" * 40000, last=False) + frame(0, b"a" * 40000, last=False), (1009,)
    yield "a flood of messages", frame(TEXT, b'{"do":"play"}') * 3000, (1008,)
    yield "a flood of pings", frame(PING, b"a") * 3000, (1008,)
    yield "a close of one byte", frame(CLOSE, b"a"), (1002,)
    for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535):
        yield f"a close with code {code}", frame(CLOSE, struct.pack(">H", code)), (1002,)
    yield "a close with a reason that is no text", frame(CLOSE, struct.pack(">H", 1000) + b"\xff"), (1007,)
    yield "a length of 16 bits that needs 7", long_form(b"{}", 126), (1002,)
    yield "a length of 64 bits that needs 16", long_form(b"a" * 300, 127), (1002,)
    yield "noise", b"\xff" * 4096, (1002,)


def commands():
    """Commands that are wrong, and must be told so."""
    deep = "[" * 5000 + "]" * 5000
    for text in ("", "null", "{", '{"do":1}', '{"do":"drag","body":-1}', '{"do":"control","actuator":1e9,"value":0}',
                 '{"do":"control","actuator":0,"value":1e999}', '{"do":"step","count":1e18}', '{"do":"rewind","step":-5}', '{"do":"pose","q":[1]}',
                 '{"do":"edit","item":"body","id":1,"field":"mass","value":-1}', '{"do":"restore","slot":99}', deep, '{"do":"' + "a" * 60000 + '"}'):
        yield text


def test_attacks(t, server, witness):
    attacks = 0
    for name, raw, right in requests(server):
        status, data = ask(server, raw)
        t.check(f"attack: {name}", status in right and b"root:" not in data and b"cmake_minimum" not in data, f"got {status}")
        attacks += 1
    for name, raw, right in frames():
        client = Client(server)
        with contextlib.suppress(OSError):
            client.raw(raw)
        code = client.closed_with()
        # a socket that was cut while we were still sending may lose the code
        t.check(f"attack: {name}", code in right or code == 0 and len(raw) > 1 << 20, f"closed with {code}")
        client.end()
        attacks += 1
    client = Client(server)
    for text in commands():
        client.raw(frame(TEXT, text.encode()))
        t.check(f"attack: command {text[:40]}", client.until("error") is not None)
        attacks += 1
    client.end()
    t.check("at least fifty attacks", attacks >= 50, attacks)
    t.check("and the simulation went on", witness.goes_on())


class Slow(threading.Thread):
    """Sends a request a byte at a time, and notes when it was ended."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.s, self.begun, self.ended = connect(server, timeout=0.2), time.monotonic(), None
        self.start()

    def run(self):
        while self.ended is None and time.monotonic() < self.begun + 20:
            try:
                self.s.sendall(b"G")
                self.ended = time.monotonic() - self.begun if self.s.recv(1) == b"" else None
            except socket.timeout:
                pass
            except OSError:
                self.ended = time.monotonic() - self.begun


def is_dropped(client, seconds):
    """Whether the other side lets go of a socket whose frames were never taken: writing to it fails then."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            client.raw(frame(PONG))
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_crowds(t, server, witness):
    """Many connections."""
    crowd = []
    for _ in range(1000):
        with contextlib.suppress(OSError):
            crowd.append(connect(server, timeout=1))
    t.check("attack: 1000 connections that say nothing", witness.goes_on())
    status, _ = ask(server, get(server))
    t.check("and the page is still served", status == 200, status)
    for s in crowd:
        s.close()
    time.sleep(0.2)
    sockets, refused = [], 0
    for _ in range(20):
        try:
            sockets.append(Client(server))
        except OSError:
            refused += 1
    t.check("attack: twenty sockets, eight are the most", refused >= 12, refused)
    for s in sockets:
        s.end()


def test_slow(t, slow, lazy, witness):
    slow.join(8)
    t.check("attack: a request a byte at a time is ended after three seconds", slow.ended is not None and slow.ended < 6, slow.ended)
    t.check("attack: who takes no frames does not hold up the others", witness.goes_on())
    t.check("attack: and is dropped", is_dropped(lazy, 9))


def test_speed(t, server, witness):
    """Simulated time keeps up with the clock through all of it, roughly: the machine may be busy."""
    first = witness.last
    time.sleep(0.5)
    t.check("steps in half a second", witness.last - first > 100, witness.last - first)


def test_saved(t, tool, folder):
    path = folder / "saved.html"
    done = subprocess.run([tool, "view", str(MODEL), "--time", "0.2", "--save", str(path), "--json", "-q"], capture_output=True, text=True)
    text = path.read_text() if path.exists() else ""
    t.check("a page with a recording inside", done.returncode == 0 and text.count("karakuri-film") >= 1, done.stderr)
    element = text.split('<script id="karakuri-film" type="application/json">')[1].split("</script>")[0]
    saved = json.loads(element)
    frames_of = base64.b64decode(saved["frames"])
    count, at = 0, 0
    while at < len(frames_of):
        magic, size = struct.unpack_from("<4sI", frames_of, at)
        t.check("a saved frame", magic == b"KKF1" and size >= 160) if count == 0 else None
        count, at = count + 1, at + size
    t.check("its frames", count == 13, count)
    t.check("no address of a network in it", "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "release" / "karakuri")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "server-test", help="folder for what is written")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    t = Tally()
    server = Server(options.tool, MODEL, "--keyframe", "half_sitting", "--patience", "2")
    try:
        test_browser(t, server)
        witness, slow, lazy = Witness(server), Slow(server), Client(server, receive=4096)
        test_attacks(t, server, witness)
        test_slow(t, slow, lazy, witness)
        test_crowds(t, server, witness)
        test_speed(t, server, witness)
        witness.end()
    finally:
        counts, err = server.end()
    t.check("it ends in order", server.process.returncode == 0 and "rror" not in err, err)
    t.check("it has counted", counts["refused"] > 40 and counts["dropped"] > 0, counts)
    test_saved(t, options.tool, options.out)
    print(f"{t.passed} passed, {t.failed} failed")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
