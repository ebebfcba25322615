import ODataQuery
import ODataService

/// The fields `Prefer` and `Preference-Applied` (RFC 7240; OData Protocol 4.01, 8.2.8 and 8.3.6).
enum PreferenceFields {
    /// Parses `Prefer`. Unknown preferences are kept, and known ones with malformed values are treated as unknown
    /// (RFC 7240, 2).
    static func preferences(_ values: [String]) -> Preferences {
        var preferences = Preferences()
        for item in values.flatMap({ HeaderTokens.split($0, at: ",") }) where !item.isEmpty {
            guard let preference = try? Preference(parsing: item), apply(preference, to: &preferences) else {
                preferences.others.append(item)
                continue
            }
        }
        return preferences
    }

    /// Returns the value of `Prefer`; `nil` if there are no preferences.
    ///
    /// - Parameter prefixed: whether OData's own preferences have the prefix `odata.`, which 4.0 requires.
    static func field(_ preferences: Preferences, prefixed: Bool) -> String? {
        let items = Self.stated(preferences).map { $0.description(prefixed: prefixed) } + preferences.others
        return items.isEmpty ? nil : items.joined(separator: ", ")
    }

    /// Returns the preferences of a request one by one.
    private static func stated(_ preferences: Preferences) -> [Preference] {
        var items: [Preference] = []
        if preferences.respondAsync { items.append(.respondAsync) }
        if let wait = preferences.wait { items.append(.wait(seconds: wait)) }
        if let returns = preferences.returns {
            items.append(.returns(returns == .minimal ? .minimal : .representation))
        }
        if let size = preferences.maxPageSize { items.append(.maxPageSize(size)) }
        if preferences.trackChanges { items.append(.trackChanges) }
        if preferences.continueOnError { items.append(.continueOnError(true)) }
        if preferences.allowEntityReferences { items.append(.allowEntityReferences) }
        if let text = preferences.includeAnnotations,
            let annotations = try? Preference(parsing: "include-annotations=\(HeaderTokens.quote(text))")
        {
            items.append(annotations)
        }
        if let values = preferences.omitValues.flatMap({ Preference.OmittedValues(rawValue: $0) }) {
            items.append(.omitValues(values))
        }
        return items
    }

    /// Returns whether `Prefer` contains `continue-on-error`.
    static func statesContinueOnError(_ values: [String]) -> Bool {
        values.flatMap { HeaderTokens.split($0, at: ",") }.contains { item in
            if case .continueOnError? = try? Preference(parsing: item) { true } else { false }
        }
    }

    /// Returns the preferences in `Preference-Applied`, without the prefix of 4.0.
    static func applied(_ values: [String]) -> [String] {
        values.flatMap { HeaderTokens.split($0, at: ",") }.filter { !$0.isEmpty }
            .map { $0.hasPrefix("odata.") ? String($0.dropFirst(6)) : $0 }
    }

    /// Applies a preference; returns `false` if requests do not store it.
    private static func apply(_ preference: Preference, to preferences: inout Preferences) -> Bool {
        switch preference {
        // The first of contradicting preferences takes precedence (RFC 7240, 2).
        case .maxPageSize(let size): preferences.maxPageSize = preferences.maxPageSize ?? size
        case .returns(let returns):
            preferences.returns = preferences.returns ?? (returns == .minimal ? .minimal : .representation)
        case .trackChanges: preferences.trackChanges = true
        case .continueOnError(let isWanted): preferences.continueOnError = isWanted
        case .allowEntityReferences: preferences.allowEntityReferences = true
        case .respondAsync: preferences.respondAsync = true
        case .includeAnnotations(let patterns):
            preferences.includeAnnotations = patterns.map(\.description).joined(separator: ",")
        case .omitValues(let values): preferences.omitValues = values.rawValue
        case .wait(let seconds): preferences.wait = seconds
        case .callback, .other: return false
        }
        return true
    }
}
