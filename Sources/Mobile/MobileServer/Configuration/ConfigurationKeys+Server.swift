/// The keys of the server's part of the configuration (`mobile-server.md` 13).
enum ServerKeySchema {
    static var configuration: ConfigurationSection<ServerConfiguration> {
        ConfigurationSection([
            .section("server", \.server, server),
            .section("database", \.database, database),
            .section("keys", \.self, ConfigurationSection([.value("master", \.masterKey, .secret)])),
            .section("operators", \.operators, operators),
            .section("limits", \.limits, limits),
            .section("log", \.log, log),
            .section(
                "otlp", \.otlp,
                ConfigurationSection([
                    .value("url", \.url, .optional(.url(["http", "https"]))),
                    .value("fields", \.fields, .map(.secret)),
                ])),
            .section(
                "traces", \.self,
                ConfigurationSection([
                    .value("collector_url", \.traceCollectorURL, .optional(.url(["http", "https"])))
                ])),
            .section("retention", \.retention, retention),
            .section(
                "images", \.images,
                ConfigurationSection([
                    .value("folder", \.folder, .optional(.text)),
                    .value("public_url", \.publicURL, .optional(.url(["https", "http"]))),
                    .value("rollout_window", \.rolloutWindow, .duration("h")),
                ])),
            .section(
                "push", \.push, ConfigurationSection([.value("web_push_hosts", \.webPushHosts, .list(.text))])),
            .section(
                "compatibility", \.self, ConfigurationSection([.value("smp", \.hasSMPEndpoints, .flag)])),
            .value(
                "applications", \.applications,
                .map(
                    .keys(ApplicationKeySchema.application, from: ApplicationConfiguration()),
                    isName: ApplicationKeySchema.objection)),
        ])
    }

    private static var server: ConfigurationSection<ListenerSettings> {
        ConfigurationSection([
            .value("listen", \.listen, .listener),
            .value("operator_listen", \.operatorListen, .listener),
            .value("metrics_listen", \.metricsListen, .listener),
            .value("public_url", \.publicURL, .optional(.url(["https", "http"]))),
            .value("path_prefix", \.pathPrefix, .path),
            .value("trusted_hops", \.trustedHops, .number(0...8)),
            .section(
                "tls", \.self,
                ConfigurationSection([
                    .value("mode", \.tls, .choice),
                    .value("certificate", \.certificate, .optional(.text)),
                    .value("key", \.key, .optional(.text)),
                    .value("client_ca", \.clientCA, .optional(.text)),
                ])),
            .value("data_dir", \.dataFolder, .optional(.text)),
            .value("node_name", \.nodeName, .optional(.text)),
            .value("drain", \.drain, .duration("s")),
        ])
    }

    private static var database: ConfigurationSection<DatabaseSettings> {
        ConfigurationSection([
            .value("url", \.url, .optional(.text)),
            .value("point", \.point, .number(2...4)),
            .value("work", \.work, .number(0...8)),
            .value("migrate", \.migrates, .flag),
        ])
    }

    private static var operators: ConfigurationSection<OperatorSettings> {
        ConfigurationSection([
            .section(
                "oidc", \.self,
                ConfigurationSection([
                    .value("issuer", \.issuer, .optional(.url(["https", "http"]))),
                    .value("client_id", \.clientID, .optional(.text)),
                    .value("client_secret", \.clientSecret, .optional(.secret)),
                ])),
            .value("networks", \.networks, .list(.text)),
            .value("idle", \.idle, .duration("min")),
            .value("length", \.length, .duration("h")),
        ])
    }

    private static var limits: ConfigurationSection<ServerLimits> {
        ConfigurationSection([
            .value("device_per_minute", \.devicePerMinute, .number(1...1_000_000)),
            .value("registrations_per_hour", \.registrationsPerHour, .number(1...1_000_000)),
            .value("sign_in_per_minute", \.signInPerMinute, .number(1...1_000_000)),
            .value("upload", \.upload, .bytes),
            .value("new_reads", \.newReads, .number(1...100_000)),
            .value("deltas", \.deltas, .number(1...100_000)),
            .value("uploads", \.uploads, .number(1...100_000)),
            .value("waiters", \.waiters, .number(1...100_000)),
        ])
    }

    private static var log: ConfigurationSection<LogSettings> {
        ConfigurationSection([
            .value("level", \.level, .word(["trace", "debug", "info", "notice", "warning", "error"])),
            .value("queries", \.hasQueries, .flag),
        ])
    }

    private static var retention: ConfigurationSection<RetentionSettings> {
        ConfigurationSection([
            .value("logs", \.logs, .days),
            .value("traces", \.traces, .days),
            .value("usage", \.usage, .days),
            .value("syncs", \.syncs, .days),
            .value("uploads", \.uploads, .days),
            .value("audit", \.audit, .days),
            .value("tombstones", \.tombstones, .days),
            .value("replay", \.replay, .days),
        ])
    }
}
