import Foundation
import Synchronization

/// A TCP proxy on loopback that cuts or holds connections between any two bytes.
public final class CuttingProxy: Sendable {
    private struct State {
        var target: Int
        var descriptors: [Int32] = []
        var isHeld = false
        var isEnded = false
        /// The bytes that still go in each direction before the cut; `nil` for any number.
        var left: [Direction: Int] = [:]
    }

    /// A direction of bytes.
    public enum Direction: Hashable, Sendable {
        case toServer
        case toClient
    }

    /// The port of the proxy.
    public let port: Int
    private let listener: Int32
    private let state: Mutex<State>

    /// Listens on a free port.
    public init(to target: Int) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isBound, listen(listener, 64) == 0 else {
            throw PostgresServer.Failure(description: "the proxy cannot listen")
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        state = Mutex(State(target: target))
        Thread.detachNewThread { self.accept() }
    }

    private func accept() {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            guard client >= 0 else { return }
            let target = state.withLock { $0.isEnded ? 0 : $0.target }
            guard target > 0, let server = Self.connect(target) else {
                close(client)
                continue
            }
            state.withLock { $0.descriptors += [client, server] }
            Thread.detachNewThread { self.forward(from: client, to: server, .toServer) }
            Thread.detachNewThread { self.forward(from: server, to: client, .toClient) }
        }
    }

    private static func connect(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let outcome = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                Foundation.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard outcome == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private func forward(from source: Int32, to target: Int32, _ direction: Direction) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            while state.withLock({ $0.isHeld && !$0.isEnded }) { usleep(10_000) }
            let (allowed, isCut) = state.withLock { state -> (Int, Bool) in
                guard let left = state.left[direction] else { return (count, false) }
                state.left[direction] = max(left - count, 0)
                return (min(left, count), left <= count)
            }
            var sent = 0
            while sent < allowed {
                let written = buffer.withUnsafeBytes { bytes in
                    send(target, bytes.baseAddress.map { $0 + sent }, allowed - sent, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { break }
                sent += written
            }
            if isCut { cut() }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    /// Cuts all connections. Later ones are accepted.
    public func cut() {
        let open = state.withLock { state in
            state.left = [:]
            return state.descriptors
        }
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    /// Cuts all connections after a number of further bytes in a direction.
    public func cut(after bytes: Int, _ direction: Direction) { state.withLock { $0.left[direction] = bytes } }

    /// Holds all bytes, as a network without a cable does, or lets them go.
    public func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    /// Leads later connections to another port.
    public func lead(to target: Int) { state.withLock { $0.target = target } }

    /// Ends the proxy.
    public func stop() {
        state.withLock { $0.isEnded = true }
        cut()
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        for descriptor in state.withLock({ $0.descriptors }) { close(descriptor) }
    }
}
