import ServerState

/// The keys of a destination and its queries in the configuration (`mobile-server.md` 13).
enum DestinationKeySchema {
    static var destination: ConfigurationSection<DestinationConfiguration> {
        ConfigurationSection([
            .value("kind", \.kind, .choice),
            .value("url", \.url, .text, isRequired: true),
            .value("dialect", \.dialect, .choice),
            .section("authentication", \.authentication, authentication),
            .value("timeout", \.timeout, .duration("s")),
            .value("gate", \.gate, .number(1...1000)),
            .value("queue", \.queue, .number(0...100_000)),
            .value("rewrite_urls", \.rewritesURLs, .flag),
            .value("language_sensitive", \.isLanguageSensitive, .flag),
            .value("error_codes", \.errorCodes, .map(.number(400...599))),
            .value("throw_credential_request_on_401", \.throwsCredentialRequest, .flag),
            .value("prepopulate", \.prepopulation, .choice),
            .value("prepopulate_interval", \.prepopulationInterval, .duration("min")),
            .value("indexes", \.store.indexes, .list(.text)),
            .value("full_format", \.store.fullFormat, .text),
            .value("delta_format", \.store.deltaFormat, .text),
            .value("collation", \.store.collation, .text),
            .value("case_sensitive", \.store.isCaseSensitive, .flag),
            .value("offset_in_utc", \.store.hasOffsetInUTC, .flag),
            .value("local_change_expiry", \.store.localChangeExpiry, .days),
            .value("generated_values_early", \.store.populatesGeneratedValuesEarly, .flag),
            .value("omit_max_length", \.store.omitsMaxLength, .flag),
            .value("content_id", \.store.contentID, .word(["mime", "operation"])),
            .value("batch_all", \.store.batchesAll, .flag),
            .value("check_repeatable", \.store.checksRepeatable, .flag),
            .value("query_removal", \.store.allowsQueryRemoval, .flag),
            .value("max_delta_resends", \.store.maximumDeltaResends, .number(0...1000)),
            .value(
                "queries", \.queries,
                .map(.keys(query, from: QueryConfiguration("")), isName: ApplicationKeySchema.objection)),
        ])
    }

    private static var authentication: ConfigurationSection<DestinationAuthentication> {
        ConfigurationSection([
            .value("kind", \.kind, .choice),
            .value("user", \.user, .optional(.text)),
            .value("secret", \.secret, .optional(.secret)),
            .value("field", \.field, .optional(.text)),
            .value("token_url", \.tokenURL, .optional(.url(["https", "http"]))),
            .value("scope", \.scope, .optional(.text)),
            .value("audience", \.audience, .optional(.text)),
            .value("certificate", \.certificate, .optional(.text)),
            .value("key", \.key, .optional(.secret)),
            .value("feed_user", \.feedUser, .optional(.text)),
            .value("feed_secret", \.feedSecret, .optional(.secret)),
        ])
    }

    private static var query: ConfigurationSection<QueryConfiguration> {
        ConfigurationSection([
            .value("query", \.query, .text, isRequired: true),
            .value("group", \.group, .text),
            .value("streams", \.hasStreams, .flag),
            .value("visibility", \.visibility, .choice),
            .value("partition_by", \.partitionBy, .optional(.text)),
            .value("bind", \.bind, .optional(.text)),
            .value("max_stale", \.maxStale, .duration("min")),
            .value("refresh_interval", \.refreshInterval, .duration("min")),
            .value("sweep_interval", \.sweepInterval, .duration("min")),
            .value(
                "tracking", \.tracking, .word(["auto", "link", "etag", "modified", "compare", "never"])),
            .value("modified", \.modified, .optional(.text)),
            .value("ignore", \.ignore, .list(.text)),
            .value("delta_token_lifetime", \.tokenLifetime, .duration("min")),
            .value("removal_guard", \.removalGuard, .number(1...100)),
        ])
    }
}
