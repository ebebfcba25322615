import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// A transport that answers with a closure and records the requests.
final class ScriptedWire: HTTPTransport {
    struct Sent: Sendable {
        let request: HTTPRequest
        let body: String
        let options: TransferOptions
    }

    typealias Answer = @Sendable (Int, HTTPRequest) async throws -> (HTTPResponse, ByteStream)

    private let answer: Answer
    private let seen = Mutex<[Sent]>([])

    init(_ answer: @escaping Answer) { self.answer = answer }

    var sent: [Sent] { seen.withLock { $0 } }

    func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        let bytes = try await body?.collect(limit: 1 << 24) ?? []
        let number = seen.withLock { seen in
            seen.append(Sent(request: request, body: String(decoding: bytes, as: UTF8.self), options: options))
            return seen.count
        }
        options.report?(.requestSent(.now))
        let (response, stream) = try await answer(number, request)
        return (response, stream.observed { if $0 == nil { options.report?(.lastByte(.now)) } })
    }
}

/// Returns a response from its parts.
func answer(
    _ status: Int = 200, _ fields: [HTTPField.Name: String] = [:], _ text: String = ""
) -> (HTTPResponse, ByteStream) {
    var response = HTTPResponse(status: .init(code: status))
    for (name, value) in fields { response.headerFields[name] = value }
    return (response, text.isEmpty ? ByteStream(length: 0) { nil } : ByteStream(Array(text.utf8)))
}

/// Returns a request from a method and a URL.
func request(_ method: HTTPRequest.Method = .get, _ url: String = "https://service.test/shop/Orders") -> HTTPRequest {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return HTTPRequest(
        method: method, scheme: String(parts[0].dropLast()), authority: String(parts[2]),
        path: "/" + (parts.count > 3 ? parts[3] : ""))
}

extension ByteStream {
    var text: String {
        get async throws { String(decoding: try await collect(limit: 1 << 26), as: UTF8.self) }
    }
}

/// A listener that records the reported events.
final class Reports: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    var report: @Sendable (TransferEvent) -> Void {
        { event in
            let line: String
            switch event {
            case .started: line = "started"
            case .sent(let bytes, let total): line = "sent \(bytes)/\(total ?? -1)"
            case .received(let bytes, let total): line = "received \(bytes)/\(total ?? -1)"
            case .redirected(let url, let status): line = "redirected \(status) \(url)"
            case .authenticationNeeded(let host, let realm, let isProxy):
                line = "needed \(host) \(realm ?? "-") \(isProxy)"
            case .interrupted(_, let delay): line = "interrupted \(delay)"
            default: return
            }
            self.kept.withLock { $0.append(line) }
        }
    }
}

/// A clock that tests set.
final class TestClock: Sendable {
    private let time = Mutex(Int64(1_000_000))

    var now: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
