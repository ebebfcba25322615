import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A wire between client and service that counts messages and can be cut.
final class Wire: HTTPTransport {
    /// A fault of a message.
    enum Fault: Sendable, Hashable, CaseIterable {
        /// The message never reaches the service.
        case lostOnTheWay
        /// The service executes the request, and its response is lost.
        case answerLost
        /// The service executes the request, and its response is incomplete.
        case answerCut
        /// The service receives the request twice; the second response is returned.
        case twice
        /// The sender sees a lost connection, and the request reaches the service after the next one.
        case late
        /// The message is delayed, so that later ones overtake it.
        case delayed
    }

    private let base: any HTTPTransport
    private let state = State()

    private struct Held: Sendable {
        let request: HTTPRequest
        let body: [UInt8]?
        let options: TransferOptions
    }

    private actor State {
        var faults: @Sendable (Int, HTTPRequest) -> Fault? = { _, _ in nil }
        var requests: [HTTPRequest] = []
        var held: [Held] = []

        func set(_ faults: @escaping @Sendable (Int, HTTPRequest) -> Fault?) {
            self.faults = faults
            requests = []
        }

        func next(_ request: HTTPRequest) -> Fault? {
            requests.append(request)
            return faults(requests.count, request)
        }

        func hold(_ message: Held) { held.append(message) }

        func takeHeld() -> [Held] {
            defer { held = [] }
            return held
        }
    }

    init(_ base: any HTTPTransport) { self.base = base }

    /// Sets the closure that determines the fault of each request from its number, starting at 1, and its head.
    func cut(_ faults: @escaping @Sendable (Int, HTTPRequest) -> Fault?) async { await state.set(faults) }

    /// Removes all faults and resets the count.
    func mend() async { await state.set { _, _ in nil } }

    var requests: [HTTPRequest] { get async { await state.requests } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let fault = await state.next(request)
        guard let fault else {
            let answer = try await base.send(request, body: body, options: options)
            try await deliverLate()
            return answer
        }
        let bytes = try await body?.collect(limit: 1 << 24)
        func pass() async throws -> (HTTPResponse, ByteStream) {
            try await base.send(request, body: bytes.map { ByteStream($0) }, options: options)
        }
        switch fault {
        case .lostOnTheWay: throw TransportError.cannotConnect(host: "shop.test", reason: "the wire is cut")
        case .answerLost:
            try await Self.drain(pass())
            throw TransportError.connectionLost(host: "shop.test", reason: "the wire is cut")
        case .answerCut:
            let (response, answer) = try await pass()
            let all = try await answer.collect(limit: 1 << 24)
            let half = Mutex<[UInt8]?>(Array(all.prefix(all.count / 2)))
            let cut = ByteStream {
                let first = half.withLock { half in
                    defer { half = nil }
                    return half
                }
                if let first, !first.isEmpty { return first }
                throw TransportError.truncated(host: "shop.test", reason: "the wire is cut")
            }
            return (response, cut)
        case .twice:
            try await Self.drain(pass())
            return try await pass()
        case .late:
            await state.hold(Held(request: request, body: bytes, options: options))
            throw TransportError.connectionLost(host: "shop.test", reason: "the wire is slow")
        case .delayed:
            try await Task.sleep(for: .milliseconds(5))
            return try await pass()
        }
    }

    /// Delivers the late messages to the service.
    func deliverLate() async throws {
        for message in await state.takeHeld() {
            try await Self.drain(
                base.send(message.request, body: message.body.map { ByteStream($0) }, options: message.options))
        }
    }

    private static func drain(_ answer: (HTTPResponse, ByteStream)) async throws {
        while try await answer.1.next() != nil {}
    }
}
