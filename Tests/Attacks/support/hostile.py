"""What the attack scripts share: a service that answers as a script wants, and runs of the tool in a private home."""
import http.server, json, os, pty, select, shutil, ssl, subprocess, sys, tempfile, threading, time

OUTPOST = os.path.abspath(os.environ["OUTPOST"])
METADATA = """<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N"><EntityType Name="Item" OpenType="true">
<Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
<Property Name="Name" Type="Edm.String"/></EntityType><EntityContainer Name="C"><EntitySet Name="Items" EntityType="N.Item"/>
</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>"""


class Service:
    """A service at /svc/. `answer(handler, path)` writes an answer and returns True, or returns None for the usual one."""

    def __init__(self, answer=lambda handler, path: None, count="1", certificate=None):
        self.requests = requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def reply(self, body, status=200, kind="application/json", **fields):
                body = body if isinstance(body, bytes) else body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, value in fields.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)
                return True

            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                self.rfile.read(length)
                requests.append((self.command, self.path, dict(self.headers)))
                if answer(self, self.path):
                    return
                if "$metadata" in self.path:
                    self.reply(METADATA, kind="application/xml")
                elif "$count" in self.path:
                    self.reply(count, kind="text/plain")
                else:
                    self.reply(page([{"ID": 1, "Name": "one"}]))

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.port = self.server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}/svc/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def page(rows, **links):
    return json.dumps({"@odata.context": "$metadata#Items", "value": rows, **{"@odata." + n: l for n, l in links.items()}})


class Home:
    """A private home with a folder to work in."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="outpost-attack-")
        self.environment = {
            **os.environ, "HOME": self.path, "XDG_DATA_HOME": self.path + "/data", "XDG_STATE_HOME": self.path + "/state",
            "XDG_CACHE_HOME": self.path + "/cache", "TERM": "xterm", "NO_COLOR": "1",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def run(self, *arguments, timeout=60):
        done = subprocess.run(
            [OUTPOST, *arguments], env=self.environment, cwd=self.path, capture_output=True, timeout=timeout,
            stdin=subprocess.DEVNULL)
        return done.returncode, (done.stdout + done.stderr).decode(errors="replace")

    def at_terminal(self, *arguments, timeout=60):
        """What a person sees, byte for byte."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [OUTPOST, *arguments], env=self.environment, cwd=self.path, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        shown, end = b"", time.time() + timeout
        while time.time() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    shown += os.read(master, 65536)
                except OSError:
                    break
            elif process.poll() is not None:
                break
        if process.poll() is None:
            process.terminate()
        process.wait()
        os.close(master)
        return shown.decode(errors="replace")


def certificate(folder):
    """A certificate of 127.0.0.1 with its key in one PEM file, and the authority that vouches for it: itself."""
    key, cert, both = folder + "/k.pem", folder + "/c.pem", folder + "/both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    with open(both, "w") as file:
        file.write(open(cert).read() + open(key).read())
    return cert, both


def finish(problems):
    """Ends the script: with 1 if the attack succeeded."""
    for problem in problems:
        print("attack succeeded:", problem)
    sys.exit(1 if problems else 0)
