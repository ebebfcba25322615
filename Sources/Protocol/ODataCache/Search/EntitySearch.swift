public import Foundation
public import ODataModel

/// A method of searching entities for a text. An app can provide its own implementation.
///
/// ```swift
/// struct PrefixSearch: EntitySearch {
///     func matcher(for text: String, locale: Locale) -> SearchMatcher {
///         let wanted = text.lowercased(with: locale)
///         return SearchMatcher { fields in fields.contains { $0.lowercased(with: locale).hasPrefix(wanted) } }
///     }
/// }
/// let hits = try await cache.search("Berg", in: "Customers", by: PrefixSearch())
/// ```
public protocol EntitySearch: Sendable {
    /// Returns the test for one text, which is applied to every entity.
    ///
    /// - Throws: ``SearchError`` for an invalid text.
    func matcher(for text: String, locale: Locale) throws -> SearchMatcher
}

/// A test whether an entity matches a search.
public struct SearchMatcher: Sendable {
    /// Returns whether one of the texts of the searchable properties matches.
    public let matches: @Sendable (_ fields: [String]) throws -> Bool

    /// Creates a test from a closure.
    public init(_ matches: @escaping @Sendable (_ fields: [String]) throws -> Bool) { self.matches = matches }
}

extension EntityCache {
    /// Returns the entities of a collection whose searchable properties match a text, including those in
    /// complex properties.
    ///
    /// - Parameters:
    ///   - text: The text to search for; an empty or blank text matches every entity.
    ///   - collection: The entity set.
    ///   - search: The method; by default, a word must begin with one of the words of the text.
    ///   - locale: The locale for the comparison of upper and lower case.
    /// - Returns: The matching entities in insertion order.
    /// - Throws: ``SearchError``, ``CacheError/noModel``, ``CacheError/unknownCollection(_:)``.
    public func search(
        _ text: String, in collection: String, by search: any EntitySearch = SearchStrategy.wordPrefix,
        locale: Locale = .current
    ) async throws -> [ODataEntity] {
        guard let model = await model else { throw CacheError.noModel }
        guard model.entitySet(collection) != nil else { throw CacheError.unknownCollection(collection) }
        let matcher = try search.matcher(for: text, locale: locale)
        let fields = SearchedFields(model)
        return try await entities(of: collection).filter { try matcher.matches(fields.texts(of: $0)) }
    }
}

/// The searchable texts of entities.
private struct SearchedFields {
    private let model: EntityDataModel

    init(_ model: EntityDataModel) { self.model = model }

    func texts(of entity: ODataEntity) -> [String] {
        var texts: [String] = []
        // If the metadata marks some properties as searchable, the others are not searched.
        collect(entity, all: !hasMarks(entity.shape), into: &texts)
        return texts
    }

    private func collect(_ entity: ODataEntity, all: Bool, into texts: inout [String]) {
        for (property, value) in zip(entity.shape.properties, entity.values) {
            guard let value else { continue }
            collect(value, all: all, isMarked: property.isSearchable, into: &texts)
        }
    }

    private func collect(_ value: ODataValue, all: Bool, isMarked: Bool, into texts: inout [String]) {
        switch value {
        case .null: break
        case .string(let text): if all || isMarked { texts.append(text) }
        case .complex(let inner): collect(inner, all: all || isMarked, into: &texts)
        case .collection(let members):
            for member in members { collect(member, all: all, isMarked: isMarked, into: &texts) }
        default: if isMarked, let text = value.lexicalText { texts.append(text) }
        }
    }

    /// Returns whether a property of a type, or of its complex properties, is marked as searchable.
    private func hasMarks(_ shape: TypeShape) -> Bool {
        var waiting = [shape]
        var seen: Set<QualifiedName> = [shape.name]
        while let shape = waiting.popLast() {
            for property in shape.properties {
                if property.isSearchable { return true }
                guard case .complex(let name?) = property.type.element, seen.insert(name).inserted,
                    let inner = model.shape(name)
                else { continue }
                waiting.append(inner)
            }
        }
        return false
    }
}

extension TypeShape {
    /// The names of the searchable properties: those marked in the metadata (`sap:searchable`,
    /// `gp:use-in-search`). If none is marked, all string properties.
    public var searchableProperties: [String] {
        let marked = properties.filter(\.isSearchable)
        return (marked.isEmpty ? properties.filter { $0.type == .primitive(.string) } : marked).map(\.name)
    }
}
