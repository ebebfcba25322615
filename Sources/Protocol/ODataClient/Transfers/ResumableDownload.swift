import ErrorCodes
import HTTPTypes
import ODataHTTP
import ODataService

/// A download that can be resumed after an interruption, in this process or a later one (RFC 9110, 14: `Range`
/// and `If-Range`).
///
/// If the service cannot resume, or has a newer version of the resource, the download restarts from the
/// beginning; parts of two versions are never joined. Compression is disabled, because byte positions refer to
/// the uncompressed content.
///
/// ```swift
/// let download = ResumableDownload(request, to: DownloadFile(path), over: session)
/// try await download.run()
/// ```
public struct ResumableDownload: Sendable {
    /// The maximum number of bytes between two checkpoints.
    public static let checkpointInterval: Int64 = 1 << 20

    private let request: HTTPRequest
    private let target: any DownloadTarget
    private let transport: any HTTPTransport
    private let retry: RetryPolicy
    private let options: TransferOptions

    /// Creates a download. No request is sent yet.
    ///
    /// - Parameters:
    ///   - request: A GET request.
    ///   - retry: The number of attempts and the delays between them. An interruption after new bytes counts as
    ///     the first.
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

    /// Downloads the resource, or resumes an earlier run.
    ///
    /// - Returns: The head of the last response.
    /// - Throws: ``DownloadError``, the last `TransportError` if all retries fail, or `CancellationError`. The
    ///   checkpoint is kept for another run.
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

    /// Returns the checkpoint at which to resume, or `nil` to start from the beginning.
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
            // Some services and proxies support `Range` but ignore `If-Range` (RFC 9110, 15.3.7.3).
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
            // Either the download is complete already, or the new version is shorter.
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

/// The reason why a download failed.
public enum DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The status of the response is none of 200, 206 and 416.
    case refused(status: Int)
    /// The response contains another range than requested; the value is its `Content-Range`.
    case wrongPart(String?)

    /// An explanation of the error.
    public var description: String {
        switch self {
        case .refused(let status): "The service refused the download (\(status))."
        case .wrongPart(let range): "The service sent another part than was asked for (\(range ?? "no Content-Range"))."
        }
    }
}

/// The parsed value of `Content-Range` (RFC 9110, 14.4).
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

    /// Returns the total length, also from an unsatisfied range: `bytes */1234`.
    static func total(_ field: String?) -> Int64? {
        field.flatMap { $0.split(separator: "/").last }.flatMap { Int64($0) }
    }
}

extension HTTPResponse {
    /// A validator that identifies the bytes of this version (RFC 9110, 13.1.5): a strong ETag, or
    /// `Last-Modified` if there is no ETag. The date counts only if the response is at least 60 seconds newer
    /// (8.8.2.2).
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
