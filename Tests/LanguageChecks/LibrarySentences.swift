import Foundation

/// The sentences of libraries, beside the German ones that a tool has for them.
public enum LibrarySentences {
    /// Returns the sentences of a table that stand in no source of these folders.
    ///
    /// - Parameter sentences: the English sentences, with `%1` in the place of the first value.
    public static func absent(_ sentences: some Sequence<String>, from folders: [URL]) throws -> [String] {
        var sources = ""
        for folder in folders {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift")
            {
                // A literal may be put together from several.
                sources += try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                    .replacingOccurrences(of: #""\s*\+\s*""#, with: "", options: .regularExpression)
            }
        }
        let bytes = Data(sources.utf8)
        return sentences.filter { english in
            // The sentence may be broken into lines in the source.
            let parts = english.split(separator: /%\d/).flatMap { $0.split(separator: /[.,"] ?/) }
            let longest = parts.map { $0.prefix(30) }.max { $0.count < $1.count } ?? ""
            return bytes.range(of: Data(longest.utf8)) == nil
        }.sorted()
    }

    /// Returns the sentences of errors, findings and notes in the sources of a folder without a German counterpart.
    ///
    /// - Parameters:
    ///   - folder: the folder of the sources.
    ///   - german: tells whether a sentence has a counterpart.
    public static func untranslated(in folder: URL, german: (String) -> Bool) throws -> [String] {
        var found: [String] = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        where file.hasSuffix(".swift") {
            let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            let descriptions = descriptions(in: source)
            for literal in SourceLiterals(source).literals
            where isSentence(literal, descriptions: descriptions) && !german(sample(of: literal.text)) {
                found.append("\(file):\(literal.line): \(literal.text)")
            }
        }
        return found
    }

    /// Returns a sentence with numbers in the places of its values.
    private static func sample(of text: String) -> String { text.replacing(/%\d/, with: "7") }

    private static func isSentence(_ literal: SourceLiteral, descriptions: [ClosedRange<Int>]) -> Bool {
        guard TextCensus.words(in: literal.text) > 1, literal.text.contains(" "), !literal.isInterpolated else {
            return false
        }
        if descriptions.contains(where: { $0.contains(literal.line) }) { return true }
        let code = literal.before.replacing(/(?:[^()":,?]*\?(?:"":)?)+$/, with: "")
        return code.firstMatch(of: /(?:^|\W)reason:$|CheckFinding\(.*message:$|\Wnote\((?:[^()]|\([^()]*\))*,?$/) != nil
    }

    /// Returns the lines of the extensions in which errors have their descriptions.
    private static func descriptions(in source: String) -> [ClosedRange<Int>] {
        var ranges: [ClosedRange<Int>] = []
        var begin: Int?
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.firstMatch(of: /^extension \w+: CustomStringConvertible/) != nil { begin = index + 1 }
            if line == "}", let first = begin {
                ranges.append(first...index + 1)
                begin = nil
            }
        }
        return source.contains("CodedError") ? ranges : []
    }
}
