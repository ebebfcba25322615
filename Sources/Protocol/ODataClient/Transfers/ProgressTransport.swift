import HTTPTypes
import ODataHTTP
import ODataService
import Synchronization

/// Counts the bytes of each body for who wants to know how far a request is, puts them through a ``Bandwidth``, and
/// gives the response in chunks of at most a size.
///
/// It stands next to the transport, so each attempt counts from zero: what a challenge made void is rolled back.
public struct ProgressTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let bandwidth: Bandwidth?
    private let chunkSize: ChunkSize

    /// Wraps a transport.
    ///
    /// - Parameter chunkSize: the most bytes of a chunk of a response, for requests whose options say nothing.
    public init(_ base: any HTTPTransport, bandwidth: Bandwidth? = nil, chunkSize: ChunkSize = .standard) {
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
        options.departure?.leave()
        let (response, whole): (HTTPResponse, ByteStream)
        do {
            (response, whole) = try await base.send(request, body: upload, options: options)
        } catch let error as TransportError where error.isCertainlyUnsent {
            options.departure?.comeBack()
            throw error
        }
        let stream = whole.chunks(of: options.chunkSize ?? chunkSize)
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
    /// The same bytes in chunks of at most a size. Nothing waits: what arrives in smaller pieces is given so.
    public func chunks(of size: ChunkSize) -> ByteStream {
        if let length, length <= size.bytes { return self }
        let cutter = ChunkCutter(source: self, size: size.bytes)
        return ByteStream(length: length) { try await cutter.next() }
    }
}

/// Cuts chunks that are too large. It holds one chunk of the source.
private actor ChunkCutter {
    private let source: ByteStream
    private let size: Int
    private var rest: ArraySlice<UInt8> = []

    init(source: ByteStream, size: Int) {
        self.source = source
        self.size = size
    }

    func next() async throws -> [UInt8]? {
        if rest.isEmpty {
            guard let chunk = try await source.next() else { return nil }
            if chunk.count <= size { return chunk }
            rest = chunk[...]
        }
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
    }
}
