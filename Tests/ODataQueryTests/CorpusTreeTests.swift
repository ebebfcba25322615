import Foundation
import ODataModel
import TestCorpus
import Testing

@testable import ODataQuery

/// Queries of the corpus with the meaning that another parser recorded.
@Suite(
    "Corpus: meanings recorded by another parser", .enabled(if: Corpus.isPresent, "no corpus at ../shared/corpus"))
struct CorpusTreeTests {
    private static func files(_ prefix: String) throws -> [String] {
        try Corpus.files("uri-trees") { $0.hasSuffix(".txt") && ($0 as NSString).lastPathComponent.hasPrefix(prefix) }
            .map { String(decoding: try Corpus.bytes($0), as: UTF8.self) }
    }

    private static func holds(_ search: SearchExpression, _ text: String) -> Bool {
        switch search {
        case .word(let word), .phrase(let word): text.contains(word)
        case .not(let inner): !holds(inner, text)
        case .and(let left, let right): holds(left, text) && holds(right, text)
        case .or(let left, let right): holds(left, text) || holds(right, text)
        }
    }

    @Test("$search accepts the recorded texts and refuses a stray parenthesis")
    func search() throws {
        var checked = 0
        for file in try Self.files("SearchCombination") {
            let lines = file.split(whereSeparator: \.isNewline).map(String.init)
            for (index, line) in lines.enumerated() {
                guard let start = line.range(of: ": $search="), index + 1 < lines.count else { continue }
                let text = String(line[start.upperBound...])
                if lines[index + 1].contains("character '('") {
                    #expect(throws: QueryError.self, "\(text)") { try QueryOptions(parsing: "$search=" + text) }
                    checked += 1
                }
                // In 4.01, an operator word in place of an operand is a word, but the recording uses 4.0.
                guard lines[index + 1].hasPrefix("Match:"), index + 2 < lines.count else { continue }
                let search = try #require(try QueryOptions(parsing: "$search=" + text).search)
                for (list, isMatch) in [(lines[index + 1], true), (lines[index + 2], false)] {
                    let words = list.drop { $0 != ":" }.dropFirst().prefix { $0 != ";" }
                    for word in words.split(separator: ",", omittingEmptySubsequences: false) {
                        let sample = word.trimmingCharacters(in: .whitespaces)
                        // An empty list is written as an empty text, and so is the empty sample before a comma.
                        if sample.isEmpty { continue }
                        #expect(Self.holds(search, sample) == isMatch, "\(text) on \(sample)")
                        checked += 1
                    }
                }
            }
        }
        print("\(checked) recorded meanings of $search checked.")
    }

    @Test("Every recorded option parses")
    func options() throws {
        var parsed = 0
        var refused: [String] = []
        for file in try Self.files("") {
            for line in file.split(whereSeparator: \.isNewline).prefix(3) {
                guard line.hasPrefix("$"), let equals = line.range(of: " = ") else { continue }
                let value = line[equals.upperBound...]
                // The other parser tolerates spaces around the slash of a path and empty options.
                if value.trimmingCharacters(in: .whitespaces).isEmpty || value.contains("/ ") { continue }
                do throws(QueryError) {
                    let text = "\(line[..<equals.lowerBound])=\(value)"
                    _ = try QueryOptions(parsing: text, options: ParsingOptions(dialect: .v2))
                    parsed += 1
                } catch {
                    refused.append("\(line): \(error)")
                }
            }
        }
        print("\(parsed) recorded options parsed, \(refused.count) refused")
        for line in refused { print("    \(line)") }
        #expect(refused.isEmpty)
    }

    @Test("Every recorded option has the recorded structure")
    func structure() throws {
        var tally: [String: (same: Int, different: [String])] = [:]
        var merged = 0
        for file in try Self.files("") {
            // Files about resource paths contain only the meaning, not the input.
            guard file.hasPrefix("$") else { continue }
            let recorded = try RecordedTree(file)
            // The other parser tolerates spaces around the slash of a path.
            if recorded.options.contains(where: { $0.value.contains("/ ") }) { continue }
            for (name, value) in recorded.options {
                guard let meaning = recorded.meanings[name] else { continue }
                let options = try QueryOptions(parsing: "\(name)=\(value)", options: ParsingOptions(dialect: .v2))
                // The other parser merges several items for one navigation property.
                guard Set(options.expand.map(\.path)).count == options.expand.count else {
                    merged += 1
                    continue
                }
                let own = RecordedTree.meaning(of: name, in: options)
                if own == meaning {
                    tally[name, default: (0, [])].same += 1
                } else {
                    tally[name, default: (0, [])].different.append(
                        "\(value)\n      recorded \(meaning)\n      found    \(own ?? "nothing")")
                }
            }
        }
        for (name, (same, different)) in tally.sorted(by: { $0.key < $1.key }) {
            print("  \(name): \(same) passed, \(different.count) failed")
            for line in different { print("    \(line)") }
        }
        print("  \(merged) not compared, whose items that parser has merged")
        let different = tally.values.flatMap(\.different)
        #expect(different.isEmpty)
        let same = tally.values.reduce(0) { $0 + $1.same }
        #expect(same >= 40, "\(same) compared")
    }
}
