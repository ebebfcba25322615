import ForeignPrograms
import Foundation
import HTTPTypes
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs a server for the time of a test.
func withServer<Result>(
    _ configuration: ODataServer.Configuration = .init(), handler: @escaping ODataServer.IdentifiedHandler,
    _ body: (RunningServer) async throws -> Result
) async throws -> Result {
    let server = try await ODataServer(configuration: configuration, handler: handler).start()
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}

extension RunningServer {
    /// Sends one request.
    func send(
        _ path: String, method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:], body: ByteStream? = nil
    ) async throws -> (response: HTTPResponse, bytes: [UInt8]) {
        let transport = try NIOTransport()
        var request = HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path)
        request.headerFields = fields
        do {
            let (response, stream) = try await transport.send(request, body: body)
            let bytes = try await stream.collect(limit: 16 << 20)
            try await transport.shutdown()
            return (response, bytes)
        } catch {
            try await transport.shutdown()
            throw error
        }
    }
}

/// A connection that sends whatever a test wants, well formed or not.
struct RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects.
    ///
    /// - Parameter receiveBuffer: how many bytes the system takes before somebody reads them.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let socket = descriptor
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            Foundation.close(descriptor)
            throw CocoaError(.fileReadUnknown)
        }
    }

    /// Sends bytes; `false` once the other side has closed.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) -> Bool {
        let array = Array(bytes)
        var sent = 0
        while sent < array.count {
            let count = array[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Sends what may have to wait for the other side to read, beside the threads that the server's tasks need.
    @discardableResult
    func sendMuch(_ bytes: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: send(bytes)) }
        }
    }

    /// Everything until the other side closes, or nothing comes for twenty seconds; the head of a response alone where
    /// the rest does not matter.
    func readToEnd(untilHead: Bool = false) async -> String { await read { untilHead && $0.contains(0x0D) }.text }

    /// Everything until it is enough or the other side closes, and whether it did so in peace.
    func read(
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
    ) async -> (text: String, isClosed: Bool) {
        await withCheckedContinuation { continuation in
            // A thread of its own: those of dispatch queues are as many as processors, and the server's tasks need them.
            Thread.detachNewThread {
                var text: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                var count = 0
                repeat {
                    count = recv(descriptor, &buffer, buffer.count, 0)
                    text += buffer[..<max(0, count)]
                } while count > 0 && !isEnough(text)
                continuation.resume(returning: (String(decoding: text, as: UTF8.self), count == 0))
            }
        }
    }

    /// Reads a little now and then, on a thread of its own: those of tasks may all be busy, which would be no slow
    /// client but a silent one.
    ///
    /// - Returns: how many bytes came.
    func readSlowly(times: Int, pause: TimeInterval) async -> Int {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 4096)
                var received = 0
                for _ in 0..<times {
                    received += max(0, recv(descriptor, &buffer, buffer.count, 0))
                    Thread.sleep(forTimeInterval: pause)
                }
                continuation.resume(returning: received)
            }
        }
    }

    func close() { _ = Foundation.close(descriptor) }
}

/// A certificate for this machine that nobody trusts, made by another tool; its files go with it.
final class SelfSignedCertificate {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
    var tls: ODataServer.TLS {
        .init(
            certificateChainFile: folder.appendingPathComponent("c.pem").path,
            privateKeyFile: folder.appendingPathComponent("k.pem").path)
    }

    init() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let outcome = try await Command.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            tls.privateKeyFile, "-out", tls.certificateChainFile, "-days", "1", "-subj", "/CN=localhost")
        guard outcome.status == 0 else { throw CocoaError(.executableLoad) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
