import HTTPTypes
import NIOCore
import NIOHTTP2

/// What becomes of a request body that nobody has read when the request is answered.
///
/// A connection that is closed while bytes are still coming is reset, and a client that sends before it reads then
/// never sees the answer. So what is little is read, and the connection goes on. Beyond that, the answer says that the
/// connection ends, the server's side of it is closed behind the answer, and what the client still sends is thrown
/// away for a while (RFC 9112, 9.6). On a stream of HTTP/2 it is thrown away too, since most clients stop when they have
/// the answer; where one goes on, the stream is reset without an error (RFC 9113, 8.1), and the connection goes on.
struct UnreadBody: Sendable {
    /// The most bytes that are read so that the connection can be used again.
    static let maxSkipped: Int64 = 1 << 20
    /// The most bytes that are read and thrown away of a connection that ends, or of a stream of HTTP/2.
    static let maxDiscarded: Int64 = 64 << 20
    /// How long a connection that ends is read from.
    static let lingerTime = TimeAmount.seconds(10)

    private let body: RequestBodyReader
    private let connection: ConnectionContext
    /// Whether the connection cannot be used for another request, which the answer then says.
    let endsConnection: Bool

    /// What is left of a request's body; `nil` where nothing is.
    init?(of head: HTTPRequest, _ body: RequestBodyReader, on connection: ConnectionContext) {
        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
        // In HTTP/2 neither field needs to be there.
        let hasBody =
            length != nil || head.headerFields[.transferEncoding] != nil
            || connection.isStreamOfHTTP2 && ![.get, .head, .delete, .options].contains(head.method)
        guard hasBody, !body.isAtEnd else { return nil }
        self.body = body
        self.connection = connection
        // A client that was not told to send may send nothing, or everything: nobody can tell where its next request
        // would begin.
        let isWaiting = head.expectsContinue && !body.hasBegun
        endsConnection =
            !connection.isStreamOfHTTP2 && (isWaiting || length.map { $0 > Self.maxSkipped } ?? true)
    }

    /// Reads on behind the answer.
    ///
    /// - Throws: ``ConnectionEnd`` unless the connection can be used for another request.
    func dispose() async throws {
        guard endsConnection else {
            if try await body.skip(upTo: connection.isStreamOfHTTP2 ? Self.maxDiscarded : Self.maxSkipped) { return }
            if connection.isStreamOfHTTP2 { await connection.resetStream() }
            throw ConnectionEnd()
        }
        connection.closeOutput()
        let alarm = connection.close(after: Self.lingerTime)
        defer { alarm.cancel() }
        _ = try await body.skip(upTo: Self.maxDiscarded)
        throw ConnectionEnd()
    }
}

/// Ends a connection, or a stream of HTTP/2, on which more of a body may come that nobody wants.
struct ConnectionEnd: Error {}

extension HTTPRequest {
    /// Whether the client waits to be told before it sends its body (RFC 9110, 10.1.1).
    var expectsContinue: Bool { headerFields[.expect]?.lowercased() == "100-continue" }
}
