import HTTPTypes
import ODataHTTP
import ODataService

/// Authenticates a client: completes each request by the steps of an ``Authentication``, and sends the request
/// again after a challenge that a step can answer.
///
/// Only requests to the given origins are touched. Another host, another port, or plain HTTP in place of HTTPS
/// is another origin. Credentials therefore never follow a link or a redirect to a foreign origin.
///
/// Over plain HTTP, credentials are sent only to this machine, unless
/// ``HTTPSession/Configuration/allowsPlainHTTP`` is set.
///
/// An upload is repeated from its start if its stream can be opened again; its progress then starts at zero
/// again. Otherwise the caller receives the challenge.
public struct AuthenticatingTransport: HTTPTransport {
    /// The maximum number of challenges that are answered for one request.
    public static let maxAnswers = 3
    /// The number of bytes of a response body that steps may inspect.
    public static let pageSize = 65_536

    private let base: any HTTPTransport
    private let authentication: Authentication
    private let origins: Set<Origin>
    private let allowsPlainHTTP: Bool

    /// Wraps a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - authentication: The steps to apply.
    ///   - origins: The origins to which credentials may be sent.
    ///   - allowsPlainHTTP: Whether credentials may be sent to another machine without TLS.
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
    /// - Throws: `TransportError.plainHTTP` if a step would send credentials without TLS; otherwise the errors
    ///   of the steps and of the transport.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        guard !authentication.steps.isEmpty, let origin = Origin(request), origins.contains(origin) else {
            return try await base.send(request, body: body, options: options)
        }
        var attempt = 0
        while true {
            attempt += 1
            // An inner session reports the departure itself.
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
            // Does not ask for a password that could not be sent.
            guard !isPlain || outcome.isProxy else { throw TransportError.plainHTTP(host: origin.description) }
            // A proxy's refusal arrives as an error, which already means that no request reached the service.
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
            // Resets the progress, because the whole body is sent again.
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

    /// The outcome of one attempt. A proxy that refuses the tunnel causes an error of the transport, which is
    /// also a challenge.
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
    /// Returns the first bytes of the stream and a stream of its entire content.
    ///
    /// The last chunk is read in full, so more than `limit` bytes may be buffered; at most `limit` are
    /// returned.
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
    /// Whether the request has another path or query than `other`, or fields that `other` does not have. Fields
    /// that reveal nothing about the caller are ignored.
    func showsMore(than other: HTTPRequest) -> Bool {
        path != other.path
            || headerFields.contains {
                !HTTPField.Name.harmless.contains($0.name) && !other.headerFields[values: $0.name].contains($0.value)
            }
    }
}
