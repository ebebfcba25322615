import Foundation
import ODataModel

/// Rows that are written to a file or the terminal in one of the formats.
///
/// Harmful characters are escaped in JSON, which stays the same text. Lines of CSV are as the values are, unless a person looks.
final class RowFile {
    /// How rows are written.
    enum Form {
        case json
        case csv(CSVColumns)
    }

    /// `nil` for the output of the tool.
    private let handle: FileHandle?
    private let name: String
    private let form: Form
    private var buffer: [UInt8] = []
    private var isBegun = false
    private var isFirst = true
    private var pieces = HarmlessPieces(HarmlessText.json)

    /// - Parameters:
    ///   - handle: the file; `nil` for the output of the tool.
    ///   - name: what the file is called where it cannot be written.
    init(_ handle: FileHandle?, name: String, _ form: Form) {
        self.handle = handle
        self.name = name
        self.form = form
    }

    /// A new file that only its owner can read. What is there is never written over, nor is a link followed.
    static func create(at path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(message: "\(path) cannot be made: \(reason).", advice: "Name another directory after --to.")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// The name of the file of an entity set. A set is called what its service likes: what would leave the directory, or hide the
    /// file, is written as in a URL.
    static func name(of set: String, _ format: Export.Format) -> String {
        var name = ""
        for (index, scalar) in set.unicodeScalars.enumerated() {
            let isControl = scalar.properties.generalCategory == .control
            if isControl || "/\\%".unicodeScalars.contains(scalar) || (index == 0 && scalar == ".") {
                for byte in String(scalar).utf8 { name += String(format: "%%%02X", byte) }
            } else {
                name.unicodeScalars.append(scalar)
            }
        }
        return "\(name).\(format.rawValue)"
    }

    /// Writes what stands before the rows, also where there are none; the first time that it is called.
    func begin() throws {
        guard !isBegun else { return }
        isBegun = true
        switch form {
        case .json: try write(Array("[".utf8))
        case .csv(let columns): try write(Array(columns.header.utf8))
        }
    }

    /// Writes a row: an object, or a line.
    func append(_ row: [UInt8]) throws {
        try begin()
        if case .json = form { try write(Array((isFirst ? "\n" : ",\n").utf8)) }
        isFirst = false
        try write(row)
    }

    /// Writes what stands behind the rows.
    func end() throws {
        if case .json = form { try write(Array("\n]\n".utf8)) }
        try flush()
    }

    private func write(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count > 65_536 { try flush() }
    }

    private func flush() throws {
        var bytes = buffer
        if case .json = form { bytes = pieces.add(bytes) }
        do {
            guard let handle else {
                // The ends of lines are the file's: those of values are gone where a person looks.
                Terminal.write(bytes, isDocument: true)
                buffer.removeAll(keepingCapacity: true)
                return
            }
            try handle.write(contentsOf: Data(bytes))
        } catch {
            throw Failure(message: "\(name) cannot be written: \(error.systemReason).")
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
