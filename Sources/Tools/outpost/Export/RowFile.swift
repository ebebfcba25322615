import Foundation
import ODataModel
import ToolLanguage

/// A file, or the terminal, that rows are written to in one of the formats.
///
/// Harmful characters in JSON are escaped, which does not change its meaning. Values in CSV are unchanged,
/// except at a terminal.
final class RowFile {
    /// The form of the rows.
    enum Form {
        case json
        case csv(CSVColumns)
    }

    /// The file; `nil` for the output of the tool.
    private let handle: FileHandle?
    private let name: String
    private let form: Form
    private var buffer: [UInt8] = []
    private var isBegun = false
    private var isFirst = true
    private var pieces = HarmlessPieces(HarmlessText.json)

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - handle: the file; `nil` for the output of the tool.
    ///   - name: the name of the file in errors.
    ///   - form: the form of the rows.
    init(_ handle: FileHandle?, name: String, _ form: Form) {
        self.handle = handle
        self.name = name
        self.form = form
    }

    /// Creates a file that only its owner can read. An existing file is never overwritten, and no link is
    /// followed.
    static func create(at path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let reason = Outpost.systemReason(errno)
            throw Failure(message: "\(path) cannot be made: \(reason).", advice: "Name another directory after --to.")
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Returns the name of the file of an entity set. Characters that would leave the directory or hide the
    /// file are percent-encoded.
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

    /// Writes the text before the rows, at the first call only.
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

    /// Writes the text after the rows.
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
                // The line breaks belong to the file; those within values are removed at a terminal.
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
