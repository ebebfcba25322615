import ODataHTTP
import ODataService

/// Rewrites the links of a body while it passes.
protocol BodyRewriter: Sendable {
    /// Returns the bytes that can be passed on after a chunk.
    mutating func take(_ chunk: [UInt8]) throws -> [UInt8]

    /// Returns the bytes that were kept back at the end.
    mutating func finish() throws -> [UInt8]
}

/// A link in a request that leads out of the destination.
struct ForeignLink: Error {}

extension ByteStream {
    /// Returns the stream with its links rewritten. Its length is unknown, since links change theirs.
    func rewritten(by rewriter: some BodyRewriter) -> ByteStream {
        let state = RewritingState(rewriter, source: self)
        return ByteStream { try await state.next() }
    }
}

/// A stream that is being rewritten. Streams call it one at a time.
private actor RewritingState<Rewriter: BodyRewriter> {
    private var rewriter: Rewriter
    private let source: ByteStream
    private var hasEnded = false

    init(_ rewriter: Rewriter, source: ByteStream) {
        self.rewriter = rewriter
        self.source = source
    }

    func next() async throws -> [UInt8]? {
        while !hasEnded {
            if let chunk = try await source.next() {
                let bytes = try rewriter.take(chunk)
                if !bytes.isEmpty { return bytes }
            } else {
                hasEnded = true
                let bytes = try rewriter.finish()
                if !bytes.isEmpty { return bytes }
            }
        }
        return nil
    }
}
