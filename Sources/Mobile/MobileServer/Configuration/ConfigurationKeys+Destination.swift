import ServerState

/// The keys of a destination and its queries in the configuration (`mobile-server.md` 13).
enum DestinationKeySchema {
    static var destination: ConfigurationSection<DestinationConfiguration> {
        ConfigurationSection([
            .value("kind", \.kind, as: .choice),
            .value("url", \.url, as: .text, isRequired: true),
            .value("dialect", \.dialect, as: .choice),
            .section("authentication", \.authentication, of: authentication),
            .value("timeout", \.timeout, as: .duration("s")),
            .value("gate", \.gate, as: .number(1...1000)),
            .value("queue", \.queue, as: .number(0...100_000)),
            .value("rewrite_urls", \.rewritesURLs, as: .flag),
            .value("language_sensitive", \.isLanguageSensitive, as: .flag),
            .value("error_codes", \.errorCodes, as: .map(.number(400...599))),
            .value("throw_credential_request_on_401", \.throwsCredentialRequest, as: .flag),
            .value("prepopulate", \.prepopulation, as: .choice),
            .value("prepopulate_interval", \.prepopulationInterval, as: .duration("min")),
            .value("indexes", \.store.indexes, as: .list(.text)),
            .value("full_format", \.store.fullFormat, as: .text),
            .value("delta_format", \.store.deltaFormat, as: .text),
            .value("collation", \.store.collation, as: .text),
            .value("case_sensitive", \.store.isCaseSensitive, as: .flag),
            .value("offset_in_utc", \.store.hasOffsetInUTC, as: .flag),
            .value("local_change_expiry", \.store.localChangeExpiry, as: .days),
            .value("generated_values_early", \.store.populatesGeneratedValuesEarly, as: .flag),
            .value("omit_max_length", \.store.omitsMaxLength, as: .flag),
            .value("content_id", \.store.contentID, as: .word(["mime", "operation"])),
            .value("batch_all", \.store.batchesAll, as: .flag),
            .value("check_repeatable", \.store.checksRepeatable, as: .flag),
            .value("query_removal", \.store.allowsQueryRemoval, as: .flag),
            .value("max_delta_resends", \.store.maximumDeltaResends, as: .number(0...1000)),
            .value(
                "queries", \.queries,
                as: .map(.keys(query, from: QueryConfiguration("")), isName: ApplicationKeySchema.objection)),
        ])
    }

    private static var authentication: ConfigurationSection<DestinationAuthentication> {
        ConfigurationSection([
            .value("kind", \.kind, as: .choice),
            .value("user", \.user, as: .optional(.text)),
            .value("secret", \.secret, as: .optional(.secret)),
            .value("field", \.field, as: .optional(.text)),
            .value("token_url", \.tokenURL, as: .optional(.url(["https", "http"]))),
            .value("scope", \.scope, as: .optional(.text)),
            .value("audience", \.audience, as: .optional(.text)),
            .value("certificate", \.certificate, as: .optional(.text)),
            .value("key", \.key, as: .optional(.secret)),
            .value("feed_user", \.feedUser, as: .optional(.text)),
            .value("feed_secret", \.feedSecret, as: .optional(.secret)),
        ])
    }

    private static var query: ConfigurationSection<QueryConfiguration> {
        ConfigurationSection([
            .value("query", \.query, as: .text, isRequired: true),
            .value("group", \.group, as: .text),
            .value("streams", \.hasStreams, as: .flag),
            .value("visibility", \.visibility, as: .choice),
            .value("partition_by", \.partitionBy, as: .optional(.text)),
            .value("bind", \.bind, as: .optional(.text)),
            .value("max_stale", \.maxStale, as: .duration("min")),
            .value("refresh_interval", \.refreshInterval, as: .duration("min")),
            .value("sweep_interval", \.sweepInterval, as: .duration("min")),
            .value(
                "tracking", \.tracking, as: .word(["auto", "link", "etag", "modified", "compare", "never"])),
            .value("modified", \.modified, as: .optional(.text)),
            .value("ignore", \.ignore, as: .list(.text)),
            .value("delta_token_lifetime", \.tokenLifetime, as: .duration("min")),
            .value("removal_guard", \.removalGuard, as: .number(1...100)),
        ])
    }
}
