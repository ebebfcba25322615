import ODataModel

/// The canonical functions as methods, and the lambda operators (OData URL Conventions 4.01, 5.1.1.4 to 5.1.1.13).
extension QueryExpression {
    // MARK: Strings

    /// `contains`.
    public func contains(_ other: QueryExpression) -> QueryExpression { .function(.contains, self, other) }
    /// `startswith`.
    public func startsWith(_ prefix: QueryExpression) -> QueryExpression { .function(.startswith, self, prefix) }
    /// `endswith`.
    public func endsWith(_ suffix: QueryExpression) -> QueryExpression { .function(.endswith, self, suffix) }
    /// `matchesPattern`: a regular expression of ECMAScript.
    public func matches(pattern: QueryExpression) -> QueryExpression { .function(.matchesPattern, self, pattern) }
    /// `concat`.
    public func concatenated(with other: QueryExpression) -> QueryExpression { .function(.concat, self, other) }
    /// `indexof`: the position of another string, counted from 0; −1 for none.
    public func index(of other: QueryExpression) -> QueryExpression { .function(.indexof, self, other) }
    /// `substring` from a position counted from 0.
    public func substring(from start: QueryExpression) -> QueryExpression { .function(.substring, self, start) }
    /// `substring` of at most `length` characters.
    public func substring(from start: QueryExpression, length: QueryExpression) -> QueryExpression {
        .function(.substring, self, start, length)
    }
    /// `length`: the number of characters.
    public var length: QueryExpression { .function(.length, self) }
    /// `tolower`.
    public var lowercased: QueryExpression { .function(.tolower, self) }
    /// `toupper`.
    public var uppercased: QueryExpression { .function(.toupper, self) }
    /// `trim`.
    public var trimmed: QueryExpression { .function(.trim, self) }

    // MARK: Numbers

    /// `round`.
    public var rounded: QueryExpression { .function(.round, self) }
    /// `floor`.
    public var floor: QueryExpression { .function(.floor, self) }
    /// `ceiling`.
    public var ceiling: QueryExpression { .function(.ceiling, self) }

    // MARK: Dates and times

    /// `year`.
    public var year: QueryExpression { .function(.year, self) }
    /// `month`.
    public var month: QueryExpression { .function(.month, self) }
    /// `day`.
    public var day: QueryExpression { .function(.day, self) }
    /// `hour`.
    public var hour: QueryExpression { .function(.hour, self) }
    /// `minute`.
    public var minute: QueryExpression { .function(.minute, self) }
    /// `second`.
    public var second: QueryExpression { .function(.second, self) }
    /// `date`.
    public var date: QueryExpression { .function(.date, self) }
    /// `time`.
    public var time: QueryExpression { .function(.time, self) }
    /// `now`.
    public static var now: QueryExpression { .function(.now) }

    // MARK: Geography

    /// `geo.distance`.
    public func distance(to other: QueryExpression) -> QueryExpression { .function(.geoDistance, self, other) }
    /// `geo.intersects`.
    public func intersects(_ polygon: QueryExpression) -> QueryExpression { .function(.geoIntersects, self, polygon) }

    // MARK: Types

    /// `cast` to a type by its name, such as `Edm.String`.
    public func cast(to type: String) -> QueryExpression {
        QueryExpression(.typeTest(.cast, expression, Identifier(type)))
    }
    /// `isof` with a type by its name.
    public func isOf(_ type: String) -> QueryExpression {
        QueryExpression(.typeTest(.isOf, expression, Identifier(type)))
    }

    // MARK: Collections

    /// A property of the value at the end of a path.
    public subscript(path: String) -> QueryExpression {
        guard case .path(let start) = expression else { return self }
        return QueryExpression(.path(start + Self.steps(path)))
    }

    /// `$count`: the number of members.
    public var count: QueryExpression { appending(.count(filter: nil, search: nil)) }

    /// `$count` of the members that satisfy a condition over a member's properties.
    public func count(where condition: QueryExpression) -> QueryExpression {
        appending(.count(filter: condition.expression, search: nil))
    }

    /// `any` without a condition: whether there are members at all.
    public var isNotEmpty: QueryExpression { appending(.any(variable: nil, predicate: nil)) }

    /// `any`: whether a member satisfies a condition.
    ///
    /// - Parameters:
    ///   - variable: the range variable's name; nested lambdas take different ones.
    ///   - condition: makes the condition from the member.
    public func any(
        _ variable: String = "x", _ condition: (QueryExpression) -> QueryExpression
    ) -> QueryExpression {
        let predicate = condition(.property(variable)).expression
        return appending(.any(variable: Identifier(variable), predicate: predicate))
    }

    /// `all`: whether every member satisfies a condition.
    ///
    /// - Parameters:
    ///   - variable: the range variable's name; nested lambdas take different ones.
    ///   - condition: makes the condition from the member.
    public func all(
        _ variable: String = "x", _ condition: (QueryExpression) -> QueryExpression
    ) -> QueryExpression {
        let predicate = condition(.property(variable)).expression
        return appending(.all(variable: Identifier(variable), predicate: predicate))
    }
}
