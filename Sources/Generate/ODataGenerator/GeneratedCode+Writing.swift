import Foundation
import SafeFiles

extension GeneratedCode {
    /// The result of writing files.
    public struct Written: Hashable, Sendable {
        /// The paths of new and changed files.
        public var changed: [String] = []
        /// The paths of files from an earlier run that were removed.
        public var removed: [String] = []
    }

    /// Writes the files into a folder, which is created if necessary.
    ///
    /// Unchanged files are not written, so that they are not built again. Files that an earlier run has
    /// generated, but this one has not, are removed. They are recognized by their first line; other files are
    /// not touched. Symbolic links below the folder are not followed.
    /// - Throws: Errors of the file system.
    @discardableResult
    public func write(to folder: URL) throws -> Written {
        var written = Written()
        let files = FileManager.default
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        let wanted = Set(self.files.map(\.path))
        for path in try files.subpathsOfDirectory(atPath: folder.path).sorted()
        where path.hasSuffix(".swift") && !wanted.contains(path) {
            let url = folder.appendingPathComponent(path)
            guard let data = files.contents(atPath: url.path), data.starts(with: Self.mark) else { continue }
            try files.removeItem(at: url)
            written.removed.append(path)
        }
        for file in self.files {
            let url = folder.appendingPathComponent(file.path)
            let data = Data(file.text.utf8)
            if files.contents(atPath: url.path) == data { continue }
            try file.write(below: folder)
            written.changed.append(file.path)
        }
        return written
    }

    /// The first line of every generated file.
    private static let mark = Data("// Generated from the metadata of an OData service.".utf8)
}

extension GeneratedFile {
    /// Writes the file below a folder, and creates the folders of its path. Links are not followed.
    func write(below folder: URL) throws {
        var below = try CheckedFolder(folder.path)
        let steps = path.split(separator: "/").map(String.init)
        for step in steps.dropLast() { below = try below.folder(step, mode: 0o777) }
        try below.replace(steps.last ?? "", with: Array(text.utf8), mode: 0o666)
    }
}

extension GeneratorConfiguration {
    /// Returns a sentence that explains an error in a configuration file.
    public static func explain(_ error: DecodingError) -> String {
        func place(_ context: DecodingError.Context) -> String {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "" : "\(path): "
        }
        switch error {
        case .dataCorrupted(let context):
            if context.codingPath.last?.stringValue == "access" {
                let values = GeneratorConfiguration.Access.allCases.map(\.rawValue).joined(separator: ", ")
                return place(context) + "one of \(values) is expected"
            }
            let reason = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
            return place(context) + (reason ?? context.debugDescription)
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
            return place(context) + context.debugDescription
        @unknown default: return "\(error)"
        }
    }
}
