import ODataService

/// `Prefer` and `Preference-Applied` (RFC 7240; OData Protocol 4.01, 8.2.8 and 8.3.6).
enum PreferenceFields {
    /// Reads `Prefer`. Unknown preferences are kept, since a service ignores what it does not know;
    /// malformed values of known ones are treated as unknown, as RFC 7240, 2 asks.
    static func preferences(_ values: [String]) -> Preferences {
        var preferences = Preferences()
        for item in values.flatMap({ HeaderTokens.split($0, at: ",") }) where !item.isEmpty {
            let (name, value) = nameAndValue(item)
            if !apply(name, value, to: &preferences) { preferences.others.append(item) }
        }
        return preferences
    }

    /// Writes `Prefer`; `nil` when there is nothing to prefer.
    ///
    /// - Parameter prefixed: 4.0 names its own preferences `odata.…`, 4.01 allows the names without.
    static func field(_ preferences: Preferences, prefixed: Bool) -> String? {
        let prefix = prefixed ? "odata." : ""
        var items: [String] = []
        if preferences.respondAsync { items.append("respond-async") }
        if let wait = preferences.wait { items.append("wait=\(wait)") }
        if let returns = preferences.returns { items.append("return=\(returns.rawValue)") }
        if let size = preferences.maxPageSize { items.append("\(prefix)maxpagesize=\(size)") }
        if preferences.trackChanges { items.append("\(prefix)track-changes") }
        if preferences.continueOnError { items.append("\(prefix)continue-on-error") }
        if preferences.allowEntityReferences { items.append("\(prefix)allow-entityreferences") }
        if let annotations = preferences.includeAnnotations {
            items.append("\(prefix)include-annotations=\(HeaderTokens.quote(annotations))")
        }
        if let values = preferences.omitValues { items.append("omit-values=\(values)") }
        items += preferences.others
        return items.isEmpty ? nil : items.joined(separator: ", ")
    }

    /// The preferences named in `Preference-Applied`, without the prefix of 4.0.
    static func applied(_ values: [String]) -> [String] {
        values.flatMap { HeaderTokens.split($0, at: ",") }.filter { !$0.isEmpty }
            .map { $0.hasPrefix("odata.") ? String($0.dropFirst(6)) : $0 }
    }

    private static func nameAndValue(_ item: String) -> (String, String?) {
        // Parameters after a semicolon mean nothing for the preferences known here.
        let main = HeaderTokens.split(item, at: ";").first ?? item
        var name = main
        var value: String?
        if let equals = main.firstIndex(of: "=") {
            name = HeaderTokens.trim(main[..<equals])
            value = HeaderTokens.unquote(main[main.index(after: equals)...])
        }
        name = name.lowercased()
        return (name.hasPrefix("odata.") ? String(name.dropFirst(6)) : name, value)
    }

    /// Takes over a preference; `false` when it is unknown or its value makes no sense.
    private static func apply(_ name: String, _ value: String?, to preferences: inout Preferences) -> Bool {
        switch (name, value) {
        case ("maxpagesize", let value?):
            guard let size = Int(value), size > 0 else { return false }
            preferences.maxPageSize = preferences.maxPageSize ?? size
        case ("return", let value?):
            guard let returns = Preferences.Return(rawValue: value) else { return false }
            // Of contradicting preferences the first counts (RFC 7240, 2).
            preferences.returns = preferences.returns ?? returns
        case ("track-changes", nil): preferences.trackChanges = true
        case ("continue-on-error", nil), ("continue-on-error", "true"): preferences.continueOnError = true
        case ("continue-on-error", "false"): preferences.continueOnError = false
        case ("allow-entityreferences", nil): preferences.allowEntityReferences = true
        case ("respond-async", nil): preferences.respondAsync = true
        case ("include-annotations", let value?): preferences.includeAnnotations = value
        case ("omit-values", let value?):
            guard value == "nulls" || value == "defaults" else { return false }
            preferences.omitValues = value
        case ("wait", let value?):
            guard let seconds = Int(value), seconds >= 0 else { return false }
            preferences.wait = seconds
        default: return false
        }
        return true
    }
}
