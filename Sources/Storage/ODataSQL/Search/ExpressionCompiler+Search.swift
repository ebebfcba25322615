import GRDB
import ODataModel
import ODataQuery
import ODataService

/// `$search`, with a full-text index if the table has one, or a scan by a registered function. Both split words
/// like ``TextSearch``, so that an index affects only the speed.
extension ExpressionCompiler {
    /// Returns the condition that a row matches a search expression. All strings of the row are searched, including
    /// those of complex properties and collections.
    func search(_ search: SearchExpression, _ scope: SQLScope) throws -> SQLFragment {
        usesSearch = true
        let made = scope.computed.keys.sorted().compactMap { scope.computed[$0] }.filter { $0.codec == .string }
        var texts = made.map(\.sql)
        var index: (table: TableStorage, rowID: SQLFragment)?
        if case .json(let value, let type) = scope.source, type.primitive == .string { texts.append(value) }
        if let table = scope.table {
            if options.searchIndexes.contains(table.table), let rowID = table.rowID {
                index = (table, scope.sql(rowID))
            } else {
                texts += table.searchColumns.map { scope.column($0, isNullable: true).sql }
            }
        }
        return try self.search(search, texts, index: index)
    }

    private func search(
        _ search: SearchExpression, _ texts: [SQLFragment], index: (table: TableStorage, rowID: SQLFragment)?
    ) throws -> SQLFragment {
        switch search {
        case .and(let left, let right):
            return "(\(try self.search(left, texts, index: index)) AND \(try self.search(right, texts, index: index)))"
        case .or(let left, let right):
            return "(\(try self.search(left, texts, index: index)) OR \(try self.search(right, texts, index: index)))"
        case .not(let inner): return "NOT \(try self.search(inner, texts, index: index))"
        case .word(let text), .phrase(let text):
            let words = TextSearch.words(of: text)
            if words.isEmpty { return "0" }
            let phrase = words.joined(separator: " ")
            // A function of SQLite has at most 100 arguments.
            var parts = stride(from: 0, to: texts.count, by: 90).map {
                let some = Array(texts[$0..<min($0 + 90, texts.count)])
                return "outpost_search(\(bind: phrase.databaseValue), \(list: some))" as SQLFragment
            }
            if let index {
                let name = SearchIndex.name(of: index.table)
                parts.append(
                    """
                    \(index.rowID) IN (SELECT rowid FROM \(name: name) WHERE \(name: name) MATCH \
                    \(bind: "\"\(phrase)\"".databaseValue))
                    """)
            }
            return parts.isEmpty ? "0" : "(\(list: parts, by: " OR "))"
        }
    }
}

extension TableStorage {
    /// The columns that `$search` searches: strings and collections of strings, including those of complex
    /// properties and derived types.
    package var searchColumns: [ColumnStorage] {
        columns.filter {
            $0.codec == .string || $0.codec.isAnyText
                || ($0.codec == .json && $0.type.element.primitive == .string)
        }
    }
}

/// The SQL functions of `$search`.
enum SearchFunctions {
    /// A separator between members of a collection in the index, so that phrases do not match across members. It is
    /// a private-use character, which the tokenizer treats as a letter and texts do not contain.
    private static let boundary = "\u{F8FF}"

    static let all: [DatabaseFunction] = [
        // Whether one of the other arguments contains the words of the first argument.
        DatabaseFunction("outpost_search", pure: true) { arguments in
            guard let phrase = arguments.first.flatMap({ String.fromDatabaseValue($0) }) else { return false }
            let search = SearchExpression.phrase(phrase)
            return arguments.dropFirst().contains { TextSearch.matches(search, in: texts($0)) }
        },
        // The words of a text in the form of the index.
        DatabaseFunction("outpost_words", argumentCount: 1, pure: true) { arguments in
            texts(arguments[0]).map { TextSearch.words(of: $0).joined(separator: " ") }
                .joined(separator: " \(boundary) ")
        },
    ]

    /// Returns a text, or the texts of a collection.
    private static func texts(_ value: DatabaseValue) -> [String] {
        guard !value.isNull, let text = try? [value].text(0) else { return [] }
        guard text.hasPrefix("["), text.hasSuffix("]") else { return [text] }
        let members = try? JSONScanner.scan(Array(text.utf8)) { (scanner) throws -> [String] in
            var members: [String] = []
            try scanner.beginArray()
            while try scanner.nextElement() {
                if try !scanner.takeNull() { members.append(try scanner.readString()) }
            }
            return members
        }
        return members ?? [text]
    }
}
