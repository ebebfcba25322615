import ErrorCodes
import Foundation
import ODataHTTP
import ODataService

extension ByteStream {
    /// The bytes of a file, read as they are taken: a file of any size costs one chunk of memory. They can be had
    /// again, so that an upload survives a challenge.
    ///
    /// - Throws: ``FileStreamError/unreadable(path:)``; the stream throws ``FileStreamError/changed(path:)`` when the
    ///   file became shorter.
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
    /// There is no file, or it may not be read.
    case unreadable(path: String)
    /// It became shorter while it was read.
    case changed(path: String)

    /// What is wrong with which file.
    public var description: String {
        switch self {
        case .unreadable(let path): "\(path) is not a file that can be read."
        case .changed(let path): "\(path) became shorter while it was read."
        }
    }
}

/// Reads a part of a file; it is open from the first chunk to the last.
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
