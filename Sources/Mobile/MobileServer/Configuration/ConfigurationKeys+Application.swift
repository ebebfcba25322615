import ServerState

/// The keys of an application in the configuration (`mobile-server.md` 13).
enum ApplicationKeySchema {
    /// Returns the objection to the name of an application, a destination or a query; `nil` for a good name.
    static func objection(to name: String) -> String? {
        let isGood =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            } && !name.hasPrefix(".")
        return isGood ? nil : "a name has 1 to 64 letters, digits, dots, hyphens and underscores."
    }

    static var application: ConfigurationSection<ApplicationConfiguration> {
        ConfigurationSection([
            .value("title", \.title, .text),
            .value("domain", \.domain, .text),
            .value("state", \.state, .choice),
            .section("registration", \.registration, registration),
            .value(
                "security", \.security,
                .map(.keys(security, from: SecurityConfiguration(kind: .anonymous)), isName: objection)),
            .section("policies", \.policies, policies),
            .value("permissions", \.permissions, .list(.keys(permission, from: emptyPermission))),
            .value("bundle_default", \.defaultBundle, .optional(.text)),
            .section(
                "push", \.push,
                ConfigurationSection([
                    .value("apns", \.apns, .map(.text)),
                    .value("fcm", \.fcm, .map(.text)),
                    .value("web_push", \.webPush, .map(.text)),
                ])),
            .value(
                "destinations", \.destinations,
                .map(
                    .keys(DestinationKeySchema.destination, from: DestinationConfiguration(url: "")),
                    isName: objection)),
            .value("preserved", \.preserved, .map(.text)),
        ])
    }

    private static var registration: ConfigurationSection<RegistrationRules> {
        ConfigurationSection([
            .value("required", \.isRequired, .optional(.flag)),
            .value("captcha", \.captcha, .choice),
            .value("activation", \.needsActivation, .flag),
            .value("device_proof", \.deviceProof, .choice),
            .value("devices_per_user", \.devicesPerUser, .number(1...10_000)),
            .value("minimum_app_version", \.minimumAppVersion, .optional(.text)),
        ])
    }

    private static var security: ConfigurationSection<SecurityConfiguration> {
        ConfigurationSection([
            .value("kind", \.kind, .choice, isRequired: true),
            .value("issuer", \.issuer, .optional(.url(["https", "http"]))),
            .value("audience", \.audience, .optional(.text)),
            .value("client_id", \.clientID, .optional(.text)),
            .value("check_url", \.checkURL, .optional(.url(["https", "http"]))),
            .value("cookie", \.cookie, .optional(.text)),
            .value("ca", \.ca, .optional(.text)),
            .value("roles", \.roles, .list(.text)),
            .value("defaults", \.defaults, .map(setting)),
        ])
    }

    /// A default setting: a text, or keys with `value` and `read_only`.
    private static var setting: ConfigurationCodec<DefaultSetting> {
        let section = ConfigurationSection<DefaultSetting>([
            .value("value", \.value, .text, isRequired: true), .value("read_only", \.isReadOnly, .flag),
        ])
        return ConfigurationCodec(
            read: { node, name, reader in
                if node.scalar != nil { return reader.text(node, name).map { DefaultSetting(value: $0) } }
                var setting = DefaultSetting(value: "")
                section.read(node, into: &setting, named: name, reader)
                return setting
            },
            write: { setting in
                setting.isReadOnly
                    ? section.write(setting, standard: DefaultSetting(value: "")) : .text(setting.value)
            })
    }

    private static var emptyPermission: PermissionRule { PermissionRule(role: "", set: "", verbs: []) }

    private static var permission: ConfigurationSection<PermissionRule> {
        ConfigurationSection([
            .value("role", \.role, .text, isRequired: true),
            .value("destination", \.destination, .optional(.text)),
            .value("set", \.set, .text, isRequired: true),
            .value(
                "verbs", \.verbs, .list(.word(["read", "create", "update", "delete", "call"])), isRequired: true),
            .value("filter", \.filter, .optional(.text)),
        ])
    }

    // MARK: Policies

    private static var policies: ConfigurationSection<ApplicationPolicies> {
        ConfigurationSection([
            .section("password", \.password, password),
            .section(
                "lock", \.lock,
                ConfigurationSection([
                    .value("offline_days", \.offlineDays, .days),
                    .value("wipe_offline_days", \.wipeOfflineDays, .days),
                    .value("inactive_days", \.inactiveDays, .days),
                ])),
            .section(
                "security", \.security,
                ConfigurationSection([
                    .value("allow_print", \.allowsPrint, .flag),
                    .value("allow_open_url", \.allowsOpenURL, .flag),
                    .value("allow_copy", \.allowsCopy, .flag),
                    .value("attestation", \.needsAttestation, .flag),
                ])),
            .value("features", \.features, .map(.flag)),
            .section(
                "log", \.log,
                ConfigurationSection([
                    .value("upload", \.isUploaded, .flag),
                    .value("level", \.level, .word(["debug", "info", "warning", "error", "fatal", "path"])),
                    .value("expiry", \.expiryDays, .days),
                ])),
            .section(
                "usage", \.usage,
                ConfigurationSection([
                    .value("collect", \.isCollected, .flag),
                    .value("cellular", \.usesCellular, .flag),
                    .value("max_records", \.maximumRecords, .number(0...1_000_000)),
                ])),
            .value("crash", \.uploadsCrashes, .flag),
            .section(
                "throttling", \.throttling,
                ConfigurationSection([
                    .value("enabled", \.isEnabled, .flag),
                    .value("per_minute", \.perMinute, .number(1...1_000_000)),
                ])),
            .section(
                "store_upload", \.storeUpload,
                ConfigurationSection([
                    .value("enabled", \.isEnabled, .flag),
                    .value("keep", \.keepDays, .days),
                    .value("size", \.size, .bytes),
                ])),
            .value("user_switch_upload", \.uploadsOnUserSwitch, .flag),
        ])
    }

    private static var password: ConfigurationSection<PasswordRules> {
        ConfigurationSection([
            .value("enabled", \.isEnabled, .flag),
            .value("default_password_allowed", \.allowsDefaultPassword, .flag),
            .value("min_length", \.minimumLength, .number(0...255)),
            .value("has_digits", \.needsDigits, .flag),
            .value("has_upper", \.needsUpper, .flag),
            .value("has_lower", \.needsLower, .flag),
            .value("has_special", \.needsSpecial, .flag),
            .value("expiration_days", \.expirationDays, .days),
            .value("min_unique_chars", \.minimumUniqueCharacters, .number(0...255)),
            .value("lock_timeout", \.lockTimeout, .number(0...31_536_000)),
            .value("retry_limit", \.retryLimit, .number(0...1_000_000)),
        ])
    }
}
