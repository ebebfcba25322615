import Foundation
import Synchronization

/// A server in a process of its own.
final class RunningProcess {
    let port: Int
    private let process = Process()
    /// The server waits for the end of this pipe, so that the servers end with this process.
    private let life = Pipe()

    /// Starts this program as a server of a kind, which writes its port into a file.
    init(_ kind: String, database: String, folder: URL) throws {
        let announcement = folder.appendingPathComponent("\(kind).port").path
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [kind, database, announcement]
        process.standardInput = life
        try process.run()
        port = try Self.port(of: process) {
            (try? String(contentsOfFile: announcement, encoding: .utf8)).flatMap { Int($0) }
        }
    }

    /// Starts another program, which prints the address on which it listens.
    init(program: String, _ arguments: [String], address: Regex<(Substring, Substring)>, log: URL) throws {
        FileManager.default.createFile(atPath: log.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = life
        process.standardOutput = try FileHandle(forWritingTo: log)
        try process.run()
        port = try Self.port(of: process) {
            (try? String(contentsOf: log, encoding: .utf8))?.firstMatch(of: address).flatMap { Int($0.1) }
        }
    }

    private static func port(of process: Process, _ find: () -> Int?) throws -> Int {
        for _ in 0..<1200 {
            usleep(100_000)
            if let found = find() { return found }
        }
        process.terminate()
        throw CocoaError(.executableLoad)
    }

    /// User and system time so far, in seconds.
    var processorSeconds: Double {
        guard let stat = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return 0 }
        let fields = stat[end...].split(separator: " ")
        return (Double(fields[12]) ?? 0) / 100 + (Double(fields[13]) ?? 0) / 100
    }

    /// Its id.
    var id: Int32 { process.processIdentifier }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// Clients that ask for pages at random places as fast as they are answered, each on its own connection.
struct Load {
    let port: Int
    let rows: Int
    let connections: Int
    /// How many of a hundred requests change a row.
    let writesPerHundred: Int

    func run(seconds: Double, _ server: RunningProcess) -> Throughput {
        Self.drive(server, connections: connections, seconds: seconds) { connection, random in
            let id = 1 + Int(random.next() % UInt64(max(1, rows - 60)))
            let isWrite = Int(random.next() % 100) < writesPerHundred
            return isWrite ? connection.patch(id) : connection.page(after: id) != nil
        }
    }

    /// Does some work on each of several connections, as fast as it is answered.
    static func drive(
        _ server: RunningProcess, connections: Int, seconds: Double,
        _ work: @escaping @Sendable (Connection, inout Random) -> Bool
    ) -> Throughput {
        let (port, done) = (server.port, Tally())
        let failed = Tally()
        let before = server.processorSeconds
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let clients = DispatchGroup()
        // Threads of their own: a queue runs no more than there are processors.
        for number in 0..<connections {
            clients.enter()
            Thread.detachNewThread {
                defer { clients.leave() }
                guard let connection = Connection(port: port) else {
                    failed.add()
                    return
                }
                var random = Random(state: UInt64(number + 1))
                while ContinuousClock.now < end {
                    if work(connection, &random) { done.add() } else { failed.add() }
                }
                connection.close()
            }
        }
        clients.wait()
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        return Throughput(
            requests: done.count, failures: failed.count, seconds: elapsed,
            processorSeconds: server.processorSeconds - before)
    }
}

/// A count that many threads add to.
private final class Tally: Sendable {
    private let value = Atomic<Int>(0)
    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}

/// The same numbers in each run (SplitMix64).
struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A connection that is kept open, and reads no more of an answer than where it ends.
final class Connection {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 262_144)

    init?(port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let file = descriptor
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, status == 0 else { return nil }
    }

    /// A page, head and all.
    func page(after id: Int) -> ArraySlice<UInt8>? {
        let path = "/Items?$filter=ID%20gt%20\(id)&$orderby=ID&$top=50"
        return exchange("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n", expects: 200)
    }

    func patch(_ id: Int) -> Bool {
        let body = "{\"Quantity\":\(id % 400)}"
        return exchange(
            "PATCH /Items(\(id)) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", expects: 204) != nil
    }

    /// Posts a body.
    ///
    /// - Returns: the response, head and all; `nil` unless it has the status.
    func post(_ path: String, _ fields: String, _ body: String, expects status: Int = 200) -> ArraySlice<UInt8>? {
        exchange(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body, expects: status)
    }

    private func exchange(_ request: String, expects status: Int) -> ArraySlice<UInt8>? {
        var text = request
        let isSent = text.withUTF8 { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) == $0.count }
        guard isSent else { return nil }
        var count = 0
        while true {
            let received = buffer.withUnsafeMutableBytes { bytes in
                recv(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count, 0)
            }
            guard received > 0 else { return nil }
            count += received
            if let isGood = isComplete(count, status) { return isGood ? buffer[..<count] : nil }
            if count == buffer.count { return nil }
        }
    }

    /// Whether a whole answer has the status; `nil` while more is to come.
    private func isComplete(_ count: Int, _ status: Int) -> Bool? {
        let bytes = buffer[..<count]
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        let isGood = head.hasPrefix("http/1.1 \(status)")
        if let field = head.firstRange(of: "content-length: ") {
            let length = Int(head[field.upperBound...].prefix { $0.isNumber }) ?? 0
            return count >= end.upperBound + length ? isGood : nil
        }
        if head.contains("transfer-encoding: chunked") {
            return bytes.suffix(5).elementsEqual("0\r\n\r\n".utf8) ? isGood : nil
        }
        return isGood
    }

    /// Reads a whole answer of any length and throws it away, but for its end.
    ///
    /// - Returns: how many bytes there were, and the last of them; `nil` unless it is 200.
    func drain(_ path: String) -> (bytes: Int, end: String)? {
        var text = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        _ = text.withUTF8 { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var total = 0
        var (start, end): ([UInt8], [UInt8]) = ([], [])
        while true {
            let received = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard received > 0 else { break }
            total += received
            if start.count < 12 { start += buffer[..<min(received, 12)] }
            end = Array((end + buffer[max(0, received - 1024)..<received]).suffix(1024))
        }
        guard start.starts(with: "HTTP/1.1 200".utf8) else { return nil }
        return (total, String(decoding: end, as: UTF8.self))
    }

    func close() { _ = Foundation.close(descriptor) }
}
