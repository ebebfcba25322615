import HTTPTypes
import ODataHTTP
import ODataService

/// Shows who the client is: completes each request by the steps of an ``Authentication``, and when the answer is a
/// challenge that a step can answer, sends the request again.
///
/// Only requests to the given origins are touched. Another host, another port or plain HTTP in place of HTTPS is
/// another origin, so credentials follow neither a link nor a redirect to it.
///
/// Over plain http, credentials go to this machine alone unless it is allowed: see ``HTTPSession/Configuration/allowsPlainHTTP``.
///
/// An upload is repeated from its start where its stream can be had again, and its progress then begins at zero
/// again; else the challenge is given to the caller.
public struct AuthenticatingTransport: HTTPTransport {
    /// The most challenges that are answered for one request.
    public static let maxAnswers = 3
    /// The bytes of an answer's body that steps get to see.
    public static let pageSize = 65_536

    private let base: any HTTPTransport
    private let authentication: Authentication
    private let origins: Set<Origin>
    private let allowsPlainHTTP: Bool

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - base: carries the requests.
    ///   - authentication: the steps.
    ///   - origins: whom the credentials may be shown to.
    ///   - allowsPlainHTTP: whether they may be shown to another machine without https.
    public init(
        _ base: any HTTPTransport, authentication: Authentication, origins: Set<Origin>, allowsPlainHTTP: Bool = false
    ) {
        self.base = base
        self.authentication = authentication
        self.origins = origins
        self.allowsPlainHTTP = allowsPlainHTTP
    }

    /// Sends a request, and again after each challenge that a step answers.
    ///
    /// - Throws: `TransportError.plainHTTP` where a step would show credentials without https; what the steps throw, besides what the transport throws.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard !authentication.steps.isEmpty, let origin = Origin(request), origins.contains(origin) else {
            return try await base.send(request, body: body, options: options)
        }
        var attempt = 0
        while true {
            attempt += 1
            // Around a session, which tells for itself.
            if base.keepsSession { options.departure?.watch() }
            var message = request
            var own = options
            own.allowsPlainHTTP = options.allowsPlainHTTP || allowsPlainHTTP
            for step in authentication.steps {
                try await step.prepare(&message)
                try await step.prepare(&own)
            }
            let isPlain = origin.isPlain && !own.allowsPlainHTTP
            guard !isPlain || !message.showsMore(than: request) else {
                throw TransportError.plainHTTP(host: origin.description)
            }
            let upload = body.map { $0.fromStart() ?? $0 }
            if base.keepsSession { options.departure?.handOver() }
            let outcome = try await outcome(of: message, body: upload, options: own)
            guard attempt <= Self.maxAnswers, body?.isRepeatable ?? true else { return try outcome.result }
            let steps = authentication.steps.filter {
                $0.recognizes(outcome.response, to: message, isProxy: outcome.isProxy)
            }
            guard !steps.isEmpty else { return try outcome.result }
            // Nobody is asked for a password that would not be sent.
            guard !isPlain || outcome.isProxy else { throw TransportError.plainHTTP(host: origin.description) }
            // A proxy's refusal has come as an error, which tells that nothing left.
            if outcome.error == nil { options.departure?.comeBack() }
            let page = try await outcome.stream.firstBytes(Self.pageSize)
            let challenge = AuthenticationChallenge(
                request: message, response: outcome.response, origin: origin, isProxy: outcome.isProxy,
                page: page.bytes, attempt: attempt, proxyAuthorization: own.proxyAuthorization)
            options.report?(
                .authenticationNeeded(
                    host: origin.host, realm: challenge.schemes.compactMap(\.realm).first, isProxy: outcome.isProxy))
            guard try await isAnswered(challenge, by: steps) else {
                if let error = outcome.error { throw error }
                return (outcome.response, page.whole)
            }
            // What went so far counts no more: it will go again.
            if let body { options.report?(.sent(0, of: body.length)) }
            options.report?(.received(0, of: nil))
        }
    }

    private func isAnswered(
        _ challenge: AuthenticationChallenge, by steps: [any AuthenticationStep]
    ) async throws -> Bool {
        for step in steps {
            switch try await step.answer(challenge) {
            case .retry: return true
            case .decline: continue
            case .stop: return false
            }
        }
        return false
    }

    /// What came of one try. A proxy that refuses the tunnel is an error of the transport, and a challenge all the
    /// same.
    private struct Outcome {
        let response: HTTPResponse
        let stream: ByteStream
        let isProxy: Bool
        let error: TransportError?

        var result: (HTTPResponse, ByteStream) {
            get throws {
                if let error { throw error }
                return (response, stream)
            }
        }
    }

    private func outcome(
        of message: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> Outcome {
        do {
            let (response, stream) = try await base.send(message, body: body, options: options)
            return Outcome(
                response: response, stream: stream, isProxy: response.status == .proxyAuthenticationRequired, error: nil
            )
        } catch TransportError.proxyAuthenticationRequired(let proxy) {
            return Outcome(
                response: HTTPResponse(status: .proxyAuthenticationRequired), stream: ByteStream([]), isProxy: true,
                error: .proxyAuthenticationRequired(proxy: proxy))
        }
    }
}

extension ByteStream {
    /// The first bytes, as many as there are up to a limit or one chunk more, and a stream of the whole for those
    /// who come later.
    func firstBytes(_ limit: Int) async throws -> (bytes: [UInt8], whole: ByteStream) {
        var bytes: [UInt8] = []
        var isAtEnd = false
        while bytes.count < limit {
            guard let chunk = try await next() else {
                isAtEnd = true
                break
            }
            bytes += chunk
        }
        let head = bytes.isEmpty ? ByteStream(length: 0) { nil } : ByteStream(bytes)
        let ended = isAtEnd
        let whole = ByteStream(length: length) {
            if let chunk = try await head.next() { return chunk }
            return ended ? nil : try await next()
        }
        return (Array(bytes.prefix(limit)), whole)
    }
}

extension HTTPRequest {
    /// Whether it has fields, or a query, that another form of it has not, besides those that say nothing of who asks.
    func showsMore(than other: HTTPRequest) -> Bool {
        path != other.path
            || headerFields.contains {
                !HTTPField.Name.harmless.contains($0.name) && !other.headerFields[values: $0.name].contains($0.value)
            }
    }
}
