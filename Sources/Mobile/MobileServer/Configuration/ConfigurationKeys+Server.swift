/// The keys of the server's part of the configuration (`mobile-server.md` 13).
enum ServerKeySchema {
    static var configuration: ConfigurationSection<ServerConfiguration> {
        ConfigurationSection([
            .section("server", \.server, of: server),
            .section("database", \.database, of: database),
            .section("keys", \.self, of: ConfigurationSection([.value("master", \.masterKey, as: .secret)])),
            .section("operators", \.operators, of: operators),
            .section("limits", \.limits, of: limits),
            .section("log", \.log, of: log),
            .section(
                "otlp", \.otlp,
                of: ConfigurationSection([
                    .value("url", \.url, as: .optional(.url(["http", "https"]))),
                    .value("fields", \.fields, as: .map(.secret)),
                ])),
            .section(
                "traces", \.self,
                of: ConfigurationSection([
                    .value("collector_url", \.traceCollectorURL, as: .optional(.url(["http", "https"])))
                ])),
            .section("retention", \.retention, of: retention),
            .section(
                "images", \.images,
                of: ConfigurationSection([
                    .value("folder", \.folder, as: .optional(.text)),
                    .value("public_url", \.publicURL, as: .optional(.url(["https", "http"]))),
                    .value("rollout_window", \.rolloutWindow, as: .duration("h")),
                ])),
            .section(
                "push", \.push, of: ConfigurationSection([.value("web_push_hosts", \.webPushHosts, as: .list(.text))])),
            .section(
                "compatibility", \.self, of: ConfigurationSection([.value("smp", \.hasSMPEndpoints, as: .flag)])),
            .value(
                "applications", \.applications,
                as: .map(
                    .keys(ApplicationKeySchema.application, from: ApplicationConfiguration()),
                    isName: ApplicationKeySchema.objection)),
        ])
    }

    private static var server: ConfigurationSection<ListenerSettings> {
        ConfigurationSection([
            .value("listen", \.listen, as: .listener),
            .value("operator_listen", \.operatorListen, as: .listener),
            .value("metrics_listen", \.metricsListen, as: .listener),
            .value("public_url", \.publicURL, as: .optional(.url(["https", "http"]))),
            .value("path_prefix", \.pathPrefix, as: .path),
            .value("trusted_hops", \.trustedHops, as: .number(0...8)),
            .section(
                "tls", \.self,
                of: ConfigurationSection([
                    .value("mode", \.tls, as: .choice),
                    .value("certificate", \.certificate, as: .optional(.text)),
                    .value("key", \.key, as: .optional(.text)),
                    .value("client_ca", \.clientCA, as: .optional(.text)),
                ])),
            .value("data_dir", \.dataFolder, as: .optional(.text)),
            .value("node_name", \.nodeName, as: .optional(.text)),
            .value("drain", \.drain, as: .duration("s")),
        ])
    }

    private static var database: ConfigurationSection<DatabaseSettings> {
        ConfigurationSection([
            .value("url", \.url, as: .optional(.text)),
            .value("point", \.point, as: .number(2...4)),
            .value("work", \.work, as: .number(0...8)),
            .value("migrate", \.migrates, as: .flag),
        ])
    }

    private static var operators: ConfigurationSection<OperatorSettings> {
        ConfigurationSection([
            .section(
                "oidc", \.self,
                of: ConfigurationSection([
                    .value("issuer", \.issuer, as: .optional(.url(["https", "http"]))),
                    .value("client_id", \.clientID, as: .optional(.text)),
                    .value("client_secret", \.clientSecret, as: .optional(.secret)),
                ])),
            .value("networks", \.networks, as: .list(.text)),
            .value("idle", \.idle, as: .duration("min")),
            .value("length", \.length, as: .duration("h")),
        ])
    }

    private static var limits: ConfigurationSection<ServerLimits> {
        ConfigurationSection([
            .value("device_per_minute", \.devicePerMinute, as: .number(1...1_000_000)),
            .value("registrations_per_hour", \.registrationsPerHour, as: .number(1...1_000_000)),
            .value("sign_in_per_minute", \.signInPerMinute, as: .number(1...1_000_000)),
            .value("upload", \.upload, as: .bytes),
            .value("new_reads", \.newReads, as: .number(1...100_000)),
            .value("deltas", \.deltas, as: .number(1...100_000)),
            .value("uploads", \.uploads, as: .number(1...100_000)),
            .value("waiters", \.waiters, as: .number(1...100_000)),
        ])
    }

    private static var log: ConfigurationSection<LogSettings> {
        ConfigurationSection([
            .value("level", \.level, as: .word(["trace", "debug", "info", "notice", "warning", "error"])),
            .value("queries", \.hasQueries, as: .flag),
        ])
    }

    private static var retention: ConfigurationSection<RetentionSettings> {
        ConfigurationSection([
            .value("logs", \.logs, as: .days),
            .value("traces", \.traces, as: .days),
            .value("usage", \.usage, as: .days),
            .value("syncs", \.syncs, as: .days),
            .value("uploads", \.uploads, as: .days),
            .value("audit", \.audit, as: .days),
            .value("tombstones", \.tombstones, as: .days),
            .value("replay", \.replay, as: .days),
        ])
    }
}
