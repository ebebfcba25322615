import ErrorCodes
import HTTPTypes
import ODataHTTP
import ODataService

/// A download that goes on where it was interrupted, in this process or a later one (RFC 9110, 14: `Range` and
/// `If-Range`).
///
/// Where the service cannot continue, or has another version by now, the download starts again from the beginning;
/// parts of two versions are never joined. The bytes are asked for unpacked, since positions count those.
///
/// ```swift
/// let download = ResumableDownload(request, to: DownloadFile(path), over: session)
/// try await download.run()
/// ```
public struct ResumableDownload: Sendable {
    /// How many bytes may come between two checkpoints.
    public static let checkpointInterval: Int64 = 1 << 20

    private let request: HTTPRequest
    private let target: any DownloadTarget
    private let transport: any HTTPTransport
    private let retry: RetryPolicy
    private let options: TransferOptions

    /// Names what is downloaded; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - request: a GET.
    ///   - retry: how often, and after how long, an interrupted download goes on; an interruption that came after new
    ///     bytes counts as the first.
    public init(
        _ request: HTTPRequest, to target: any DownloadTarget, over transport: any HTTPTransport,
        retry: RetryPolicy = RetryPolicy(), options: TransferOptions = TransferOptions()
    ) {
        self.request = request
        self.target = target
        self.transport = transport
        self.retry = retry
        var options = options
        options.acceptsCompression = false
        self.options = options
    }

    /// Downloads, or goes on with what an earlier run has left.
    ///
    /// - Returns: the head of the last answer.
    /// - Throws: ``DownloadError``, the last `TransportError` when the retries are used up, `CancellationError`; the
    ///   checkpoint is kept, and another run goes on.
    @discardableResult public func run() async throws -> HTTPResponse {
        var attempt = 0
        while true {
            let before = try await resumePoint()?.received ?? 0
            do {
                return try await runOnce()
            } catch let error as TransportError {
                let after = try await resumePoint()?.received ?? 0
                attempt = after > before ? 1 : attempt + 1
                guard attempt < retry.maxAttempts,
                    retry.allowsRetry(after: error, of: request, isRepeatable: true)
                else { throw error }
                let delay = retry.delay(before: attempt)
                options.report?(.interrupted(error, retryAfter: delay))
                try await retry.sleep(delay)
            }
        }
    }

    /// Where to go on; `nil` for the beginning.
    private func resumePoint() async throws -> DownloadCheckpoint? {
        guard let checkpoint = try await target.checkpoint(), checkpoint.url == request.url,
            checkpoint.validator != nil, checkpoint.received > 0
        else { return nil }
        return checkpoint
    }

    private func runOnce() async throws -> HTTPResponse {
        var message = request
        message.headerFields[.acceptEncoding] = "identity"
        let resume = try await resumePoint()
        if let resume {
            message.headerFields[.range] = "bytes=\(resume.received)-"
            message.headerFields[.ifRange] = resume.validator
        }
        let (response, stream) = try await transport.send(message, body: nil, options: options)
        switch response.status.code {
        case 200:
            let checkpoint = DownloadCheckpoint(
                url: request.url, validator: response.strongValidator, received: 0, total: stream.length)
            try await take(stream, from: checkpoint)
        case 206:
            guard let resume, let part = ContentRange(response.headerFields[.contentRange]),
                part.first == resume.received, resume.total == nil || part.total == nil || part.total == resume.total
            else {
                try await target.keep(nil)
                throw DownloadError.wrongPart(response.headerFields[.contentRange])
            }
            // Not every service and proxy that knows `Range` knows `If-Range` (RFC 9110, 15.3.7.3).
            let isTag = resume.validator?.hasSuffix("\"") ?? false
            if let validator = response.headerFields[isTag ? .eTag : .lastModified], validator != resume.validator {
                try await target.keep(nil)
                return try await runOnce()
            }
            let checkpoint = DownloadCheckpoint(
                url: request.url, validator: resume.validator, received: resume.received,
                total: part.total ?? resume.total)
            try await take(stream, from: checkpoint)
        case 416 where resume != nil:
            // Either all is here already, or the version has become shorter.
            let total = ContentRange.total(response.headerFields[.contentRange])
            let isWhole = resume?.received == resume?.total && (total == nil || total == resume?.total)
            try await target.keep(nil)
            return isWhole ? response : try await runOnce()
        default: throw DownloadError.refused(status: response.status.code)
        }
        return response
    }

    private func take(_ stream: ByteStream, from start: DownloadCheckpoint) async throws {
        var checkpoint = start
        try await target.truncate(to: checkpoint.received)
        try await target.keep(checkpoint)
        var kept = checkpoint.received
        do {
            while let chunk = try await stream.next() {
                try await target.append(chunk)
                checkpoint.received += Int64(chunk.count)
                if checkpoint.received - kept >= Self.checkpointInterval {
                    kept = checkpoint.received
                    try await target.keep(checkpoint)
                }
            }
        } catch {
            try await target.keep(checkpoint)
            throw error
        }
        if let total = checkpoint.total, checkpoint.received < total {
            try await target.keep(checkpoint)
            throw TransportError.truncated(
                host: request.authority ?? "", reason: "\(checkpoint.received) of \(total) bytes arrived")
        }
        try await target.keep(nil)
    }
}

/// Why a download cannot go on.
public enum DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The service answered with another status than 200, 206 or 416.
    case refused(status: Int)
    /// The service sent a part that was not asked for: its `Content-Range`.
    case wrongPart(String?)

    /// What came.
    public var description: String {
        switch self {
        case .refused(let status): "The service refused the download (\(status))."
        case .wrongPart(let range): "The service sent another part than was asked for (\(range ?? "no Content-Range"))."
        }
    }
}

/// What `Content-Range` says (RFC 9110, 14.4).
private struct ContentRange {
    let first: Int64
    let total: Int64?

    init?(_ field: String?) {
        guard let field, field.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = field.dropFirst(6).split(separator: "/")
        guard parts.count == 2, let dash = parts[0].firstIndex(of: "-"), let first = Int64(parts[0][..<dash]) else {
            return nil
        }
        self.first = first
        total = Int64(parts[1])
    }

    /// How long the whole is, also where no part of it can be given: `bytes */1234`.
    static func total(_ field: String?) -> Int64? {
        field.flatMap { $0.split(separator: "/").last }.flatMap { Int64($0) }
    }
}

extension HTTPResponse {
    /// What tells this version's bytes from others (RFC 9110, 13.1.5): a strong entity tag, else a date where there is
    /// no tag at all, and the answer is later by so much that no other version has the same (8.8.2.2).
    fileprivate var strongValidator: String? {
        if let etag = headerFields[.eTag] { return etag.hasPrefix("W/") ? nil : etag }
        guard let text = headerFields[.lastModified], let modified = CookieDate.seconds(text),
            let date = headerFields[.date].flatMap(CookieDate.seconds), date - modified >= 60
        else { return nil }
        return text
    }
}

extension DownloadError: CodedError {
    /// `download.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .refused: "refused"
            case .wrongPart: "wrong-part"
            }
        return ErrorCode(rawValue: "download.\(name)")
    }

    /// By the status.
    public var failureKind: FailureKind {
        switch self {
        case .refused(let status): ODataError(status: status, code: "", message: "").failureKind
        case .wrongPart: .answer
        }
    }
}
