import HTTPTypes
import Hummingbird
import NIOCore
import ODataService

/// Sends a response: adds the fields of the server, compresses and streams the body, and disposes of the unread
/// request body.
struct OutgoingResponse: Sendable {
    let head: HTTPRequest
    let body: RequestBodyReader
    let connection: ConnectionContext
    let configuration: ODataServer.Configuration
    /// The running request, once the handler has been called.
    var running: RunningRequest?

    /// Returns the response for a refusal, without the handler.
    func response(_ refusal: Refusal, _ record: AccessRecord) async -> Response {
        var answer = HTTPResponse(status: refusal.status, headerFields: refusal.fields)
        answer.headerFields[.contentType] = "application/json"
        let bytes = Array(refusal.json.utf8)
        answer.headerFields[.contentLength] = String(bytes.count)
        return await response((answer, head.method == .head ? ByteStream([]) : ByteStream(bytes)), record)
    }

    /// Returns the response for an answer of the handler.
    func response(_ answer: (HTTPResponse, ByteStream), _ record: AccessRecord) async -> Response {
        var (message, stream) = answer
        configuration.csrf?.addToken(to: &message, for: head, by: record.principal)
        FrontDoor.addFields(to: &message)
        configuration.crossOrigin?.allow(&message, for: head)
        if configuration.compresses { (message, stream) = await Compression.apply(to: message, stream, for: head) }
        let status = message.status
        if head.method == .head, let length = message.headerFields[.contentLength].flatMap({ Int($0) }) {
            // The length is that of the body for a GET; no body is written.
            let body = ResponseBody(contentLength: length) { writer in try await writer.finish(nil) }
            return finished(message, body, record: record)
        }
        if head.method == .head || status.code == 204 || status.code == 304 || status.code < 200 {
            return finished(message, ResponseBody(), record: record)
        }
        do {
            // The handler has read ahead already, unless the app provides its own or the body was compressed.
            let isJSON = message.headerFields[.contentType]?.hasPrefix("application/json") == true
            stream = try await stream.readingAhead(findingEnd: isJSON)
        } catch {
            // No byte has been sent yet, so the error can be reported with its status.
            return finished(HTTPResponse(status: .internalServerError), ResponseBody(), record: record, failure: error)
        }
        guard let whole = stream.takeWhole() else { return streamed(message, stream, record: record) }
        guard !whole.isEmpty else { return finished(message, ResponseBody(), record: record) }
        // A body of one chunk is sent in one write with its head. Most responses are of this kind.
        message.headerFields[.contentLength] = String(whole.count)
        return finished(message, ResponseBody(byteBuffer: ByteBuffer(bytes: whole)), record: record, bytes: whole.count)
    }

    private func streamed(_ message: HTTPResponse, _ stream: ByteStream, record: AccessRecord) -> Response {
        let status = message.status.code
        let (message, unread) = announcingEnd(message)
        let body = ResponseBody(contentLength: stream.length.flatMap { Int(exactly: $0) }) {
            [connection, running] writer in
            var bytes = 0
            let gate = await connection.writeGate()
            do {
                while let chunk = try await running.next(of: stream) {
                    bytes += chunk.count
                    await gate?.enter(chunk.count)
                    try await writer.write(ByteBuffer(bytes: chunk))
                }
            } catch {
                // Throwing closes the connection, so that the client notices the truncation.
                record.write(status: status, bytes: bytes, failure: error)
                throw error
            }
            record.write(status: status, bytes: bytes, failure: nil)
            try await writer.finish(nil)
            try await unread?.dispose()
        }
        return Response(status: message.status, headers: message.headerFields, body: body)
    }

    private func finished(
        _ message: HTTPResponse, _ whole: ResponseBody, record: AccessRecord, bytes: Int = 0,
        failure: (any Error)? = nil
    ) -> Response {
        record.write(status: message.status.code, bytes: bytes, failure: failure)
        let (message, unread) = announcingEnd(message)
        guard let unread else { return Response(status: message.status, headers: message.headerFields, body: whole) }
        return Response(
            status: message.status, headers: message.headerFields,
            body: ResponseBody(contentLength: whole.contentLength) { writer in
                try await whole.write(writer)
                try await unread.dispose()
            })
    }

    /// Returns the response with its `Connection` field, and the unread part of the request body.
    private func announcingEnd(_ message: HTTPResponse) -> (HTTPResponse, UnreadBody?) {
        guard let unread = UnreadBody(of: head, body, on: connection) else { return (message, nil) }
        var message = message
        if unread.endsConnection { message.headerFields[.connection] = "close" }
        return (message, unread)
    }
}

extension RunningRequest? {
    /// Returns the next chunk of a response, unless the request is cancelled.
    fileprivate func next(of stream: ByteStream) async throws -> [UInt8]? {
        if let chunk = stream.nextAtHand() { return chunk }
        guard let self else { return try await stream.next() }
        return try await self.perform { try await stream.next() }
    }
}
