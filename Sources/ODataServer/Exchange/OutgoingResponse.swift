import HTTPTypes
import Hummingbird
import NIOCore
import ODataService

/// Puts an answer on the connection: the fields that the server adds, packing, the stream, and what is left of the
/// request's body.
struct OutgoingResponse: Sendable {
    let head: HTTPRequest
    let body: RequestBodyReader
    let configuration: ODataServer.Configuration

    /// A response without asking the handler.
    func response(_ refusal: Refusal, _ record: AccessRecord) async -> Response {
        var answer = HTTPResponse(status: refusal.status, headerFields: refusal.fields)
        answer.headerFields[.contentType] = "application/json"
        let bytes = Array(refusal.json.utf8)
        answer.headerFields[.contentLength] = String(bytes.count)
        return await response((answer, head.method == .head ? ByteStream([]) : ByteStream(bytes)), record)
    }

    /// The response to an answer of the handler.
    func response(_ answer: (HTTPResponse, ByteStream), _ record: AccessRecord) async -> Response {
        var (message, stream) = answer
        configuration.csrf?.addToken(to: &message, for: head)
        configuration.crossOrigin?.allow(&message, for: head)
        if configuration.compresses { (message, stream) = await Compression.apply(to: message, stream, for: head) }
        let status = message.status
        if head.method == .head, let length = message.headerFields[.contentLength].flatMap({ Int($0) }) {
            // The length is that of the body a GET would get; none is written.
            let body = ResponseBody(contentLength: length) { writer in try await writer.finish(nil) }
            return finished(message, body, record, bytes: 0)
        }
        if head.method == .head || status.code == 204 || status.code == 304 || status.code < 200 {
            return finished(message, ResponseBody(), record, bytes: 0)
        }
        let first: [UInt8]?
        do {
            first = try await stream.next()
        } catch {
            // Nothing has been sent yet, so the failure can still be told in full.
            record.write(status: 500, bytes: 0, failure: error)
            return Response(status: .internalServerError, headers: [:], body: ResponseBody())
        }
        guard let first else { return finished(message, ResponseBody(), record, bytes: 0) }
        // A body of one chunk goes out in one write with its head, which is what most responses are.
        if let length = stream.length, length == Int64(first.count) {
            return finished(message, ResponseBody(byteBuffer: ByteBuffer(bytes: first)), record, bytes: first.count)
        }
        return Response(
            status: status, headers: message.headerFields, body: streamed(first, stream, status.code, record))
    }

    private func streamed(
        _ first: [UInt8], _ stream: ByteStream, _ status: Int, _ record: AccessRecord
    ) -> ResponseBody {
        ResponseBody(contentLength: stream.length.flatMap { Int(exactly: $0) }) { writer in
            var bytes = first.count
            do {
                try await writer.write(ByteBuffer(bytes: first))
                while let chunk = try await stream.next() {
                    bytes += chunk.count
                    try await writer.write(ByteBuffer(bytes: chunk))
                }
            } catch {
                // Throwing cuts the connection, so that the client cannot take the part for the whole.
                record.write(status: status, bytes: bytes, failure: error)
                throw error
            }
            record.write(status: status, bytes: bytes, failure: nil)
            try await writer.finish(nil)
            if mayHaveRest { try await body.skipRest() }
        }
    }

    /// A response that is ready as a whole, after which what is left of the request's body is skipped.
    private func finished(
        _ message: HTTPResponse, _ whole: ResponseBody, _ record: AccessRecord, bytes: Int
    ) -> Response {
        record.write(status: message.status.code, bytes: bytes, failure: nil)
        guard mayHaveRest else { return Response(status: message.status, headers: message.headerFields, body: whole) }
        let body = body
        return Response(
            status: message.status, headers: message.headerFields,
            body: ResponseBody(contentLength: whole.contentLength) { writer in
                try await whole.write(writer)
                try await body.skipRest()
            })
    }

    /// Whether the handler may have left a part of the request's body unread.
    private var mayHaveRest: Bool { ![.get, .head, .delete, .options].contains(head.method) }
}
