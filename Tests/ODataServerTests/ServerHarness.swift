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

/// Runs a server for the duration of a test.
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

/// A connection that sends any bytes, well-formed or not.
struct RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects to a port of this machine.
    ///
    /// - Parameter receiveBuffer: The number of bytes that the system buffers before they are read.
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

    /// Sends bytes and returns `false` if the peer has closed the connection.
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

    /// Sends bytes that may have to wait for the peer, on a separate thread, because the server's tasks need
    /// theirs.
    @discardableResult
    func sendMuch(_ bytes: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: send(bytes)) }
        }
    }

    /// Returns all bytes until the peer closes the connection, or nothing arrives for twenty seconds. With
    /// `untilHead`, returns after the head of a response.
    func readToEnd(untilHead: Bool = false) async -> String { await read { untilHead && $0.contains(0x0D) }.text }

    /// Returns all bytes until the condition holds or the peer closes the connection, and whether it was closed
    /// normally.
    func read(
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }
    ) async -> (text: String, isClosed: Bool) {
        await withCheckedContinuation { continuation in
            // A separate thread is used, because the server's tasks need the few threads of dispatch queues.
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

    /// Reads a few bytes at intervals on a separate thread. The threads of tasks may all be busy, which would
    /// make the client silent and not slow.
    ///
    /// - Returns: The number of received bytes.
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

/// An untrusted certificate for this machine, created with another tool. Its files are removed when it is
/// deallocated.
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
