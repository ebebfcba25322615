import Foundation
import ServerState

/// The keys of the `.ini` file and their counterparts (`mobile-server.md` 13).
enum EndpointFileKeys {
    /// The outcome of a key.
    enum Outcome {
        case taken
        case takenAs(String)
        case refused(expected: String)
        case unknown
    }

    // MARK: Reading

    static func set(_ key: String, _ value: String, of destination: inout DestinationConfiguration) -> Outcome {
        switch key {
        case "prepopulate_offline_db":
            switch value.uppercased() {
            case "Y":
                destination.prepopulation = .shared
                return .takenAs("prepopulate_offline_db=Y is read as SHARED-ONLY: rows of one user enter no image.")
            case "N": destination.prepopulation = .no
            case "SHARED-ONLY": destination.prepopulation = .shared
            default: return .refused(expected: "Y, N or SHARED-ONLY")
            }
            return .taken
        case "prepopulate_offline_db_interval": return minutes(value, &destination.prepopulationInterval)
        case "indexed_type":
            guard value.contains(":") else { return .refused(expected: "a type with properties, 'Ns.Type: P ASC, Q'") }
            destination.store.indexes.append(value)
            return .taken
        case "defining_query_format", "request_format":
            destination.store.fullFormat = value
            return .taken
        case "delta_query_format", "delta_request_format":
            destination.store.deltaFormat = value
            return .taken
        case "offline_db_collation":
            destination.store.collation = value
            return .taken
        case "case_sensitive_offline_db": return flag(value, &destination.store.isCaseSensitive)
        case "json_datetimeoffset_in_utc": return flag(value, &destination.store.hasOffsetInUTC)
        case "local_change_expiry": return number(value, &destination.store.localChangeExpiry, in: 0...36_500)
        case "early_populate_backend_generated_values":
            return flag(value, &destination.store.populatesGeneratedValuesEarly)
        case "allow_omitting_max_length_facet": return flag(value, &destination.store.omitsMaxLength)
        case "content_id_header_location":
            guard ["mime", "operation"].contains(value) else { return .refused(expected: "mime or operation") }
            destination.store.contentID = value
            return .taken
        case "batch_all_defining_queries": return flag(value, &destination.store.batchesAll)
        case "check_repeatable_requests": return flag(value, &destination.store.checksRepeatable)
        case "allow_defining_query_removal": return flag(value, &destination.store.allowsQueryRemoval)
        case "max_delta_resends": return number(value, &destination.store.maximumDeltaResends, in: 0...1000)
        default: return .unknown
        }
    }

    static func set(_ key: String, _ value: String, of query: inout QueryConfiguration) -> Outcome {
        switch key {
        case "is_shared_data":
            var isShared = false
            let outcome = flag(value, &isShared)
            // A finer visibility stays when the file says that the data is not shared.
            if case .taken = outcome, isShared || query.visibility == .shared {
                query.visibility = isShared ? .shared : .user
            }
            return outcome
        case "refresh_interval": return minutes(value, &query.refreshInterval)
        case "delta_token_lifetime": return minutes(value, &query.tokenLifetime)
        case "track_deltas":
            switch value.uppercased() {
            case "AUTO": query.tracking = "auto"
            case "ALWAYS": query.tracking = "compare"
            case "NEVER": query.tracking = "never"
            default: return .refused(expected: "AUTO, ALWAYS or NEVER")
            }
            return .taken
        default: return .unknown
        }
    }

    private static func flag(_ value: String, _ target: inout Bool) -> Outcome {
        switch value.uppercased() {
        case "Y": target = true
        case "N": target = false
        default: return .refused(expected: "Y or N")
        }
        return .taken
    }

    private static func number(_ value: String, _ target: inout Int, in range: ClosedRange<Int>) -> Outcome {
        guard let number = Int(value), range.contains(number) else {
            return .refused(expected: "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        target = number
        return .taken
    }

    private static func minutes(_ value: String, _ target: inout Duration) -> Outcome {
        var number = 0
        let outcome = Self.number(value, &number, in: 0...52_560_000)
        if case .taken = outcome { target = .seconds(number * 60) }
        return outcome
    }

    // MARK: Writing

    static func endpoint(_ destination: DestinationConfiguration) -> [(String, String)] {
        let store = destination.store
        let prepopulation =
            switch destination.prepopulation {
            case .no, .schema: "N"
            case .shared, .all: "SHARED-ONLY"
            }
        return [
            ("prepopulate_offline_db", prepopulation),
            ("prepopulate_offline_db_interval", minutes(destination.prepopulationInterval)),
        ] + store.indexes.map { ("indexed_type", line($0)) } + [
            ("defining_query_format", line(store.fullFormat)), ("delta_query_format", line(store.deltaFormat)),
            ("offline_db_collation", line(store.collation)),
            ("case_sensitive_offline_db", flag(store.isCaseSensitive)),
            ("json_datetimeoffset_in_utc", flag(store.hasOffsetInUTC)),
            ("local_change_expiry", "\(store.localChangeExpiry)"),
            ("early_populate_backend_generated_values", flag(store.populatesGeneratedValuesEarly)),
            ("allow_omitting_max_length_facet", flag(store.omitsMaxLength)),
            ("content_id_header_location", store.contentID),
            ("batch_all_defining_queries", flag(store.batchesAll)),
            ("check_repeatable_requests", flag(store.checksRepeatable)),
            ("allow_defining_query_removal", flag(store.allowsQueryRemoval)),
            ("max_delta_resends", "\(store.maximumDeltaResends)"),
        ]
    }

    static func query(_ query: QueryConfiguration) -> [(String, String)] {
        let tracking =
            switch query.tracking {
            case "never": "NEVER"
            case "compare": "ALWAYS"
            default: "AUTO"
            }
        return [
            ("is_shared_data", flag(query.visibility == .shared)),
            ("refresh_interval", minutes(query.refreshInterval)), ("track_deltas", tracking),
            ("delta_token_lifetime", minutes(query.tokenLifetime)),
        ]
    }

    private static func flag(_ value: Bool) -> String { value ? "Y" : "N" }
    private static func minutes(_ value: Duration) -> String { "\(value.components.seconds / 60)" }

    /// A value in one line, without the white space at its ends, which the file does not keep.
    private static func line(_ text: String) -> String {
        let lines = text.unicodeScalars.map { $0.value < 0x20 ? " " : String($0) }.joined()
        return lines.trimmingCharacters(in: .whitespaces)
    }
}
