import HTTPTypes
import NIOCore
import NIOHTTP2

/// Disposes of a request body that was not read when the request was answered.
///
/// A connection that is closed while bytes are arriving is reset, so a client that sends before it reads would
/// never receive the response. A small rest is therefore read, and the connection stays open. Otherwise the
/// response announces the end of the connection. The server closes its side and discards further bytes for some
/// time (RFC 9112, 9.6).
///
/// On a stream of HTTP/2, further bytes are discarded too, since most clients stop after the response. If a
/// client does not stop, the stream is reset without an error (RFC 9113, 8.1), and the connection stays open.
struct UnreadBody: Sendable {
    /// The maximum number of bytes that are read to reuse the connection.
    static let maxSkipped: Int64 = 1 << 20
    /// The maximum number of bytes that are discarded on a closing connection or on a stream of HTTP/2.
    static let maxDiscarded: Int64 = 64 << 20
    /// The time for which a closing connection is read.
    static let lingerTime = TimeAmount.seconds(10)

    private let body: RequestBodyReader
    private let connection: ConnectionContext
    /// Whether the connection cannot be reused, which the response then states.
    let endsConnection: Bool

    /// Returns the rest of a request's body, or `nil` if there is none.
    init?(of head: HTTPRequest, _ body: RequestBodyReader, on connection: ConnectionContext) {
        let length = head.headerFields[.contentLength].flatMap { Int64($0) }
        // In HTTP/2, both fields are optional.
        let hasBody =
            length != nil || head.headerFields[.transferEncoding] != nil
            || connection.isStreamOfHTTP2 && ![.get, .head, .delete, .options].contains(head.method)
        guard hasBody, !body.isAtEnd else { return nil }
        self.body = body
        self.connection = connection
        // A client that was not told to send may send nothing or everything, so the start of its next request
        // is unknown.
        let isWaiting = head.expectsContinue && !body.hasBegun
        endsConnection =
            !connection.isStreamOfHTTP2 && (isWaiting || length.map { $0 > Self.maxSkipped } ?? true)
    }

    /// Reads the rest of the body after the response.
    ///
    /// - Throws: ``ConnectionEnd`` unless the connection can be reused.
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

/// Ends a connection, or a stream of HTTP/2, on which unwanted bytes may still arrive.
struct ConnectionEnd: Error {}

extension HTTPRequest {
    /// Whether the client waits for permission to send its body (RFC 9110, 10.1.1).
    var expectsContinue: Bool { headerFields[.expect]?.lowercased() == "100-continue" }
}
