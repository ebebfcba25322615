import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A wire between client and service that counts and can be cut.
final class Wire: HTTPTransport {
    /// What happens to a message.
    enum Fault: Sendable, Hashable, CaseIterable {
        /// It never reaches the service.
        case lostOnTheWay
        /// The service acts, and its answer is lost.
        case answerLost
        /// The service acts, and its answer ends in its midst.
        case answerCut
        /// The service gets it twice; the second answer comes back.
        case twice
        /// Its sender is told that the connection is lost, and it reaches the service behind the next one.
        case late
        /// It takes its time, so that others overtake it.
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

    /// Decides from now on by the number of the request, from 1, and its head.
    func cut(_ faults: @escaping @Sendable (Int, HTTPRequest) -> Fault?) async { await state.set(faults) }

    /// Lets everything through, and counts from 0 again.
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

    /// What was late reaches the service.
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
