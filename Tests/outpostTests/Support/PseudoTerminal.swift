import Foundation

/// A terminal of which a program cannot tell that nobody sits at it.
final class PseudoTerminal {
    private let master: Int32
    private let slave: Int32

    /// - Parameter columns: the width of the terminal; 0 for an unknown one.
    init(columns: Int = 0) throws {
        guard let (master, name) = Self.make() else { throw POSIXError(.ENXIO) }
        self.master = master
        slave = open(name, O_RDWR | O_NOCTTY)
        // The output is read without waiting for more.
        guard slave >= 0, fcntl(master, F_SETFL, O_NONBLOCK) == 0 else { throw POSIXError(.ENXIO) }
        guard columns > 0 else { return }
        var size = winsize()
        size.ws_col = UInt16(columns)
        size.ws_row = 25
        guard ioctl(slave, UInt(TIOCSWINSZ), &size) == 0 else { throw POSIXError(.ENXIO) }
    }

    /// The side of the person, and the name of the side of the program.
    private static func make() -> (master: Int32, name: String)? {
        #if canImport(Darwin)
            let master = posix_openpt(O_RDWR | O_NOCTTY)
            guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
                return nil
            }
            return (master, String(cString: name))
        #else
            // The system calls behind `unlockpt` and `ptsname`, which Swift does not import (TIOCSPTLCK and
            // TIOCGPTN of <asm/ioctls.h>).
            let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (isLocked, number): (Int32, UInt32) = (0, 0)
            guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0
            else {
                return nil
            }
            return (master, "/dev/pts/\(number)")
        #endif
    }

    deinit {
        close(slave)
        close(master)
    }

    /// The input or output of a program.
    var handle: FileHandle { FileHandle(fileDescriptor: slave, closeOnDealloc: false) }

    /// Whether it shows typed input.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Types something.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// The output since the last call.
    func read() -> String {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Foundation.read(master, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += chunk[..<count]
        }
    }
}

extension Tool {
    /// Runs a command at a terminal, with its input and standard error there.
    func run(
        _ arguments: String..., at terminal: PseudoTerminal, _ meanwhile: (Process) async throws -> Void = { _ in }
    ) async throws -> Result {
        let (process, output, _) = process(arguments, environment: ["TERM": "xterm", "NO_COLOR": "1"])
        process.standardInput = terminal.handle
        process.standardError = terminal.handle
        async let text = Self.text(output)
        try process.run()
        try await meanwhile(process)
        let out = await text
        process.waitUntilExit()
        return Result(code: process.terminationStatus, output: out, errors: terminal.read())
    }
}
