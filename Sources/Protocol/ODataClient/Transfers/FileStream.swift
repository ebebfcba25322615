import ErrorCodes
import Foundation
import ODataHTTP
import ODataService

extension ByteStream {
    /// Returns the bytes of a file, read on demand, so that a file of any size needs the memory of one chunk.
    /// The stream can be repeated, for instance after an authentication challenge.
    ///
    /// - Throws: ``FileStreamError/unreadable(path:)``. The stream throws ``FileStreamError/changed(path:)`` if
    ///   the file became shorter.
    public static func file(
        _ path: String, chunkSize: ChunkSize = .standard
    ) throws(FileStreamError) -> ByteStream {
        guard FileManager.default.isReadableFile(atPath: path),
            let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = (attributes[.size] as? NSNumber)?.int64Value
        else { throw .unreadable(path: path) }
        return file(path, range: 0..<size, chunkSize: chunkSize)
    }

    private static func file(_ path: String, range: Range<Int64>, chunkSize: ChunkSize) -> ByteStream {
        let reader = FileReader(path: path, range: range, chunkSize: chunkSize.bytes)
        let part: @Sendable (Range<Int64>) -> ByteStream = { part in
            file(
                path, range: (range.lowerBound + part.lowerBound)..<(range.lowerBound + part.upperBound),
                chunkSize: chunkSize)
        }
        return ByteStream(length: Int64(range.count), part: part) { try await reader.next() }
    }
}

/// A file that cannot be sent.
public enum FileStreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not exist or cannot be read.
    case unreadable(path: String)
    /// The file became shorter while it was read.
    case changed(path: String)

    /// An explanation of the error with the path.
    public var description: String {
        switch self {
        case .unreadable(let path): "\(path) is not a file that can be read."
        case .changed(let path): "\(path) became shorter while it was read."
        }
    }
}

/// Reads a part of a file, which is open from the first chunk to the last.
private actor FileReader {
    private let path: String
    private let range: Range<Int64>
    private let chunkSize: Int
    private var position: Int64
    private var handle: FileHandle?

    init(path: String, range: Range<Int64>, chunkSize: Int) {
        self.path = path
        self.range = range
        self.chunkSize = chunkSize
        position = range.lowerBound
    }

    deinit { try? handle?.close() }

    func next() throws -> [UInt8]? {
        guard position < range.upperBound else {
            try? handle?.close()
            handle = nil
            return nil
        }
        if handle == nil {
            guard let opened = FileHandle(forReadingAtPath: path) else { throw FileStreamError.unreadable(path: path) }
            try opened.seek(toOffset: UInt64(position))
            handle = opened
        }
        let count = Int(min(Int64(chunkSize), range.upperBound - position))
        guard let data = try handle?.read(upToCount: count), !data.isEmpty else {
            throw FileStreamError.changed(path: path)
        }
        position += Int64(data.count)
        return Array(data)
    }
}

extension FileStreamError: CodedError {
    /// `transfer.…`.
    public var errorCode: ErrorCode {
        let name =
            switch self {
            case .unreadable: "unreadable-file"
            case .changed: "file-changed"
            }
        return ErrorCode(rawValue: "transfer.\(name)")
    }
    /// The file, or the access to it.
    public var failureKind: FailureKind { .device }
}
