import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// Counts the bytes of each body for who wants to know how far a request is, puts them through a ``Bandwidth``, and
/// gives the response in chunks of a size.
///
/// It stands next to the transport, so each attempt counts from zero: what a challenge made void is rolled back.
public struct MeasuringTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let bandwidth: Bandwidth?
    private let chunkSize: ChunkSize?

    /// Wraps a transport.
    ///
    /// - Parameter chunkSize: of responses, for requests whose options say nothing; `nil` leaves chunks as they come.
    public init(_ base: any HTTPTransport, bandwidth: Bandwidth? = nil, chunkSize: ChunkSize? = nil) {
        self.base = base
        self.bandwidth = bandwidth
        self.chunkSize = chunkSize
    }

    /// Sends a request and measures it.
    public func send(
        _ request: HTTPRequest, body: ByteStream?, options: TransferOptions
    ) async throws -> (HTTPResponse, ByteStream) {
        var upload = body
        if let body, bandwidth != nil || options.report != nil {
            let count = Count()
            upload = body.observed { chunk in
                guard let chunk else { return }
                try await bandwidth?.pass(chunk.count)
                options.report?(.sent(count.add(chunk.count), of: body.length))
            }
        }
        var (response, stream) = try await base.send(request, body: upload, options: options)
        if let size = options.chunkSize ?? chunkSize { stream = stream.chunks(of: size) }
        guard bandwidth != nil || options.report != nil else { return (response, stream) }
        let count = Count()
        let length = stream.length
        let measured = stream.observed { chunk in
            guard let chunk else { return }
            try await bandwidth?.pass(chunk.count)
            options.report?(.received(count.add(chunk.count), of: length))
        }
        return (response, measured)
    }

    private final class Count: Sendable {
        private let total = Mutex(Int64(0))

        func add(_ bytes: Int) -> Int64 {
            total.withLock { total in
                total += Int64(bytes)
                return total
            }
        }
    }
}

extension ByteStream {
    /// The same bytes in chunks of exactly a size, but for the last one.
    ///
    /// - Parameter size: how many bytes a chunk has.
    public func chunks(of size: ChunkSize) -> ByteStream {
        let cutter = ChunkCutter(source: self, size: size.bytes)
        return ByteStream(length: length) { try await cutter.next() }
    }
}

/// Cuts a stream anew. It holds one chunk of the source and one of its own.
private actor ChunkCutter {
    private let source: ByteStream
    private let size: Int
    private var waiting: [UInt8] = []
    private var position = 0
    private var isAtEnd = false

    init(source: ByteStream, size: Int) {
        self.source = source
        self.size = size
    }

    func next() async throws -> [UInt8]? {
        while waiting.count - position < size, !isAtEnd {
            guard let chunk = try await source.next() else {
                isAtEnd = true
                break
            }
            if position == waiting.count, chunk.count == size { return chunk }
            waiting.removeFirst(position)
            position = 0
            waiting += chunk
        }
        let end = min(position + size, waiting.count)
        guard end > position else { return nil }
        defer { position = end }
        return Array(waiting[position..<end])
    }
}
