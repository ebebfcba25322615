import Foundation
import SafeFiles

extension GeneratedCode {
    /// What writing did.
    public struct Written: Hashable, Sendable {
        /// The files whose content is new.
        public var changed: [String] = []
        /// The files that were generated before and are no longer.
        public var removed: [String] = []
    }

    /// Writes the files below a folder, which is made where it is missing.
    ///
    /// Files that have their content already are left alone, so that nothing is built again for them. Files that an
    /// earlier run generated and this one does not are removed; they are known by their first line, and no others are
    /// touched. A link below the folder is not followed.
    /// - Throws: what the file system says.
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
            var below = try CheckedFolder(folder.path)
            let steps = file.path.split(separator: "/").map(String.init)
            for step in steps.dropLast() { below = try below.folder(step, mode: 0o777) }
            try below.replace(steps.last ?? "", with: Array(data), mode: 0o666)
            written.changed.append(file.path)
        }
        return written
    }

    /// What every generated file begins with.
    private static let mark = Data("// Generated from the metadata of an OData service.".utf8)
}

extension GeneratorConfiguration {
    /// What is wrong with a configuration file, in a sentence.
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
