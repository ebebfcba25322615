import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ODataService
import Synchronization

/// One request and its response: the checks before the handler, the streams around it, the line in the log.
struct Exchange: Sendable {
    let configuration: ODataServer.Configuration
    let handler: ODataServer.Handler

    func respond(to request: Request) async -> Response {
        let record = AccessRecord(request: request.head, configuration: configuration)
        var head = request.head
        head.scheme = configuration.tls == nil ? "http" : "https"
        if let refusal = await refusal(of: head) {
            return response(refusal, to: head, record: record)
        }
        let answer = await handler(head, body(of: request))
        return await response(answer.0, answer.1, to: head, record: record)
    }

    /// What stands against handing the request on.
    private func refusal(of head: HTTPRequest) async -> Refusal? {
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let prefix = configuration.normalizedPrefix
        guard path.hasPrefix(prefix) || path == prefix.dropLast() else {
            return Refusal(status: .notFound, code: "NotFound", message: "The service root is \(prefix).")
        }
        if let authentication = configuration.authentication,
            await !authentication.accepts(head.headerFields[.authorization])
        {
            return Refusal(
                status: .unauthorized, code: "Unauthorized", message: "A user name and a password are needed.",
                fields: [.wwwAuthenticate: authentication.challenge])
        }
        if let length = head.headerFields[.contentLength].flatMap({ Int64($0) }), length > configuration.maxBodySize {
            return Refusal(
                status: .contentTooLarge, code: "PayloadTooLarge",
                message: "The body exceeds \(configuration.maxBodySize) bytes.")
        }
        return nil
    }

    private func body(of request: Request) -> ByteStream {
        let length = request.head.headerFields[.contentLength].flatMap { Int64($0) }
        let reader = RequestBodyReader(request.body.makeAsyncIterator(), limit: configuration.maxBodySize)
        return ByteStream(length: length) { try await reader.next() }
    }

    private func response(_ refusal: Refusal, to head: HTTPRequest, record: AccessRecord) -> Response {
        var fields = refusal.fields
        fields[.contentType] = "application/json;odata.metadata=minimal"
        let body = ByteBuffer(string: refusal.json)
        record.write(status: refusal.status.code, bytes: body.readableBytes, failure: nil)
        return Response(
            status: refusal.status, headers: fields,
            body: head.method == .head
                ? ResponseBody(contentLength: body.readableBytes) { writer in try await writer.finish(nil) }
                : ResponseBody(byteBuffer: body))
    }

    private func response(
        _ answer: HTTPResponse, _ stream: ByteStream, to head: HTTPRequest, record: AccessRecord
    ) async -> Response {
        let status = answer.status
        if head.method == .head, let length = answer.headerFields[.contentLength].flatMap({ Int($0) }) {
            record.write(status: status.code, bytes: 0, failure: nil)
            // The length is that of the body a GET would get; none is written.
            let body = ResponseBody(contentLength: length) { writer in try await writer.finish(nil) }
            return Response(status: status, headers: answer.headerFields, body: body)
        }
        if head.method == .head || status.code == 204 || status.code == 304 || status.code < 200 {
            record.write(status: status.code, bytes: 0, failure: nil)
            return Response(status: status, headers: answer.headerFields, body: ResponseBody())
        }
        let first: [UInt8]?
        do {
            first = try await stream.next()
        } catch {
            // Nothing has been sent yet, so the failure can still be told in full.
            record.write(status: 500, bytes: 0, failure: error)
            return Response(status: .internalServerError, headers: [:], body: ResponseBody())
        }
        guard let first else {
            record.write(status: status.code, bytes: 0, failure: nil)
            return Response(status: status, headers: answer.headerFields, body: ResponseBody())
        }
        // A body of one chunk goes out in one write with its head, which is what most responses are.
        if let length = stream.length, length == Int64(first.count) {
            record.write(status: status.code, bytes: first.count, failure: nil)
            return Response(
                status: status, headers: answer.headerFields,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: first)))
        }
        let length = stream.length.flatMap { Int(exactly: $0) }
        return Response(
            status: status, headers: answer.headerFields,
            body: ResponseBody(contentLength: length) { writer in
                var bytes = first.count
                do {
                    try await writer.write(ByteBuffer(bytes: first))
                    while let chunk = try await stream.next() {
                        bytes += chunk.count
                        try await writer.write(ByteBuffer(bytes: chunk))
                    }
                } catch {
                    // Throwing cuts the connection, so that the client cannot take the part for the whole.
                    record.write(status: status.code, bytes: bytes, failure: error)
                    throw error
                }
                record.write(status: status.code, bytes: bytes, failure: nil)
                try await writer.finish(nil)
            })
    }
}

/// A response that the server gives without asking the handler: an OData error object
/// (OData JSON Format 4.01, 21).
struct Refusal: Sendable {
    var status: HTTPResponse.Status
    var code: String
    var message: String
    var fields: HTTPFields = [:]

    /// The error object; code and message are the server's own words, free of characters to escape.
    var json: String { #"{"error":{"code":"\#(code)","message":"\#(message)"}}"# }
}

/// Reads a request body and stops at the limit.
///
/// `@unchecked Sendable`: the iterator is touched only by the caller that set `isReading`, and a second
/// caller meanwhile gets an error, so no two tasks ever use it at once.
final class RequestBodyReader: @unchecked Sendable {
    private var iterator: RequestBody.AsyncIterator
    private var received: Int64 = 0
    private let limit: Int64
    private let isReading = Mutex(false)

    init(_ iterator: RequestBody.AsyncIterator, limit: Int64) {
        self.iterator = iterator
        self.limit = limit
    }

    func next() async throws -> [UInt8]? {
        let wasReading = isReading.withLock { reading in
            defer { reading = true }
            return reading
        }
        guard !wasReading else {
            throw ODataError(status: 500, code: "InternalError", message: "Two readers of one request body.")
        }
        defer { isReading.withLock { $0 = false } }
        while let buffer = try await iterator.next() {
            guard buffer.readableBytes > 0 else { continue }
            received += Int64(buffer.readableBytes)
            guard received <= limit else {
                throw ODataError(status: 413, code: "PayloadTooLarge", message: "The body exceeds \(limit) bytes.")
            }
            return Array(buffer.readableBytesView)
        }
        return nil
    }
}

/// The line that the access log gets when a response has been sent.
struct AccessRecord: Sendable {
    private let logger: Logger?
    private let method: String
    private let target: String
    private let start = ContinuousClock.now

    init(request: HTTPRequest, configuration: ODataServer.Configuration) {
        logger = configuration.accessLog
        method = request.method.rawValue
        let path = request.path ?? "/"
        target = configuration.logsQueries ? path : String(path.prefix { $0 != "?" })
    }

    func write(status: Int, bytes: Int, failure: (any Error)?) {
        guard let logger else { return }
        let (seconds, attoseconds) = start.duration(to: .now).components
        var metadata: Logger.Metadata = [
            "status": "\(status)", "bytes": "\(bytes)",
            "ms": "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)",
        ]
        // The type alone: an error's text may quote the data that was being sent.
        if let failure { metadata["failed"] = "\(type(of: failure))" }
        logger.info("\(method) \(target)", metadata: metadata)
    }
}
