public import Foundation
public import ODataModel

/// How entities are searched for a text; an app's own way takes the place of ours.
///
/// ```swift
/// struct Soundex: EntitySearch {
///     func matcher(for text: String, locale: Locale) -> SearchMatcher {
///         let wanted = soundex(text)
///         return SearchMatcher { fields in fields.contains { soundex($0) == wanted } }
///     }
/// }
/// let hits = try await cache.search("Meier", in: "Customers", by: Soundex())
/// ```
public protocol EntitySearch: Sendable {
    /// Makes the test for one text, which is then put to every entity.
    ///
    /// - Throws: ``SearchError`` for a text that cannot be searched for.
    func matcher(for text: String, locale: Locale) throws -> SearchMatcher
}

/// The test whether an entity is a hit.
public struct SearchMatcher: Sendable {
    /// Whether one of the texts of the searchable properties is a hit.
    public let matches: @Sendable (_ fields: [String]) throws -> Bool

    /// Makes a test.
    public init(_ matches: @escaping @Sendable (_ fields: [String]) throws -> Bool) { self.matches = matches }
}

extension EntityCache {
    /// The entities of a collection in whose searchable properties a text is found.
    ///
    /// - Parameters:
    ///   - text: What is looked for; nothing, or blanks alone, finds every entity.
    ///   - collection: The entity set.
    ///   - search: How; words that begin with one of the words of the text if not said.
    ///   - locale: The language, by whose rules upper and lower case are the same.
    /// - Returns: The hits, in the order in which the entities came.
    /// - Throws: ``SearchError``, ``CacheError/noModel``, ``CacheError/unknownCollection(_:)``.
    public func search(
        _ text: String, in collection: String, by search: any EntitySearch = SearchStrategy.wordPrefix,
        locale: Locale = .current
    ) async throws -> [Entity] {
        guard let model = await model else { throw CacheError.noModel }
        guard model.entitySet(collection) != nil else { throw CacheError.unknownCollection(collection) }
        let matcher = try search.matcher(for: text, locale: locale)
        return try await entities(of: collection).filter { entity in
            try matcher.matches(entity.shape.searchableProperties.compactMap { entity[$0].flatMap(Self.text) })
        }
    }

    /// The text of a value as it is searched.
    private static func text(of value: ODataValue) -> String? {
        switch value {
        case .null: nil
        case .string(let text): text
        default: value.lexicalText
        }
    }
}

extension Shape {
    /// The properties that searches look into: those that the metadata say are searchable (`sap:searchable`,
    /// `gp:use-in-search`); where they say it of none, all texts.
    public var searchableProperties: [String] {
        let marked = properties.filter(\.isSearchable)
        return (marked.isEmpty ? properties.filter { $0.type == .primitive(.string) } : marked).map(\.name)
    }
}
