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
            .value("title", \.title, as: .text),
            .value("domain", \.domain, as: .text),
            .value("state", \.state, as: .choice),
            .section("registration", \.registration, of: registration),
            .value(
                "security", \.security,
                as: .map(.keys(security, from: SecurityConfiguration(kind: .anonymous)), isName: objection)),
            .section("policies", \.policies, of: policies),
            .value("permissions", \.permissions, as: .list(.keys(permission, from: emptyPermission))),
            .value("bundle_default", \.defaultBundle, as: .optional(.text)),
            .section(
                "push", \.push,
                of: ConfigurationSection([
                    .value("apns", \.apns, as: .map(.text)),
                    .value("fcm", \.fcm, as: .map(.text)),
                    .value("web_push", \.webPush, as: .map(.text)),
                ])),
            .value(
                "destinations", \.destinations,
                as: .map(
                    .keys(DestinationKeySchema.destination, from: DestinationConfiguration(url: "")),
                    isName: objection)),
            .value("preserved", \.preserved, as: .map(.text)),
        ])
    }

    private static var registration: ConfigurationSection<RegistrationRules> {
        ConfigurationSection([
            .value("required", \.isRequired, as: .optional(.flag)),
            .value("captcha", \.captcha, as: .choice),
            .value("activation", \.needsActivation, as: .flag),
            .value("device_proof", \.deviceProof, as: .choice),
            .value("devices_per_user", \.devicesPerUser, as: .number(1...10_000)),
            .value("minimum_app_version", \.minimumAppVersion, as: .optional(.text)),
        ])
    }

    private static var security: ConfigurationSection<SecurityConfiguration> {
        ConfigurationSection([
            .value("kind", \.kind, as: .choice, isRequired: true),
            .value("issuer", \.issuer, as: .optional(.url(["https", "http"]))),
            .value("audience", \.audience, as: .optional(.text)),
            .value("client_id", \.clientID, as: .optional(.text)),
            .value("check_url", \.checkURL, as: .optional(.url(["https", "http"]))),
            .value("cookie", \.cookie, as: .optional(.text)),
            .value("ca", \.ca, as: .optional(.text)),
            .value("roles", \.roles, as: .list(.text)),
            .value("defaults", \.defaults, as: .map(setting)),
        ])
    }

    /// A default setting: a text, or keys with `value` and `read_only`.
    private static var setting: ConfigurationCodec<DefaultSetting> {
        let section = ConfigurationSection<DefaultSetting>([
            .value("value", \.value, as: .text, isRequired: true), .value("read_only", \.isReadOnly, as: .flag),
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
            .value("role", \.role, as: .text, isRequired: true),
            .value("destination", \.destination, as: .optional(.text)),
            .value("set", \.set, as: .text, isRequired: true),
            .value(
                "verbs", \.verbs, as: .list(.word(["read", "create", "update", "delete", "call"])), isRequired: true),
            .value("filter", \.filter, as: .optional(.text)),
        ])
    }

    // MARK: Policies

    private static var policies: ConfigurationSection<ApplicationPolicies> {
        ConfigurationSection([
            .section("password", \.password, of: password),
            .section(
                "lock", \.lock,
                of: ConfigurationSection([
                    .value("offline_days", \.offlineDays, as: .days),
                    .value("wipe_offline_days", \.wipeOfflineDays, as: .days),
                    .value("inactive_days", \.inactiveDays, as: .days),
                ])),
            .section(
                "security", \.security,
                of: ConfigurationSection([
                    .value("allow_print", \.allowsPrint, as: .flag),
                    .value("allow_open_url", \.allowsOpenURL, as: .flag),
                    .value("allow_copy", \.allowsCopy, as: .flag),
                    .value("attestation", \.needsAttestation, as: .flag),
                ])),
            .value("features", \.features, as: .map(.flag)),
            .section(
                "log", \.log,
                of: ConfigurationSection([
                    .value("upload", \.isUploaded, as: .flag),
                    .value("level", \.level, as: .word(["debug", "info", "warning", "error", "fatal", "path"])),
                    .value("expiry", \.expiryDays, as: .days),
                ])),
            .section(
                "usage", \.usage,
                of: ConfigurationSection([
                    .value("collect", \.isCollected, as: .flag),
                    .value("cellular", \.usesCellular, as: .flag),
                    .value("max_records", \.maximumRecords, as: .number(0...1_000_000)),
                ])),
            .value("crash", \.uploadsCrashes, as: .flag),
            .section(
                "throttling", \.throttling,
                of: ConfigurationSection([
                    .value("enabled", \.isEnabled, as: .flag),
                    .value("per_minute", \.perMinute, as: .number(1...1_000_000)),
                ])),
            .section(
                "store_upload", \.storeUpload,
                of: ConfigurationSection([
                    .value("enabled", \.isEnabled, as: .flag),
                    .value("keep", \.keepDays, as: .days),
                    .value("size", \.size, as: .bytes),
                ])),
            .value("user_switch_upload", \.uploadsOnUserSwitch, as: .flag),
        ])
    }

    private static var password: ConfigurationSection<PasswordRules> {
        ConfigurationSection([
            .value("enabled", \.isEnabled, as: .flag),
            .value("default_password_allowed", \.allowsDefaultPassword, as: .flag),
            .value("min_length", \.minimumLength, as: .number(0...255)),
            .value("has_digits", \.needsDigits, as: .flag),
            .value("has_upper", \.needsUpper, as: .flag),
            .value("has_lower", \.needsLower, as: .flag),
            .value("has_special", \.needsSpecial, as: .flag),
            .value("expiration_days", \.expirationDays, as: .days),
            .value("min_unique_chars", \.minimumUniqueCharacters, as: .number(0...255)),
            .value("lock_timeout", \.lockTimeout, as: .number(0...31_536_000)),
            .value("retry_limit", \.retryLimit, as: .number(0...1_000_000)),
        ])
    }
}
