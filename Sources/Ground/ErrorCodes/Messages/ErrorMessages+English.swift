/// The built-in English messages.
let english: [String: String] = spoken.merging(ownWords) { $1 }

private let ownWords: [String: String] = [
    "unknown": "Something unexpected happened: {reason}",
    "cancelled": "The work was cancelled.",
    "transport.invalid-url": "{url} is not an http or https URL.",
    "transport.cannot-connect": "Cannot connect to {host}: {reason}",
    "transport.untrusted-certificate": "The certificate of {host} is not trusted: {reason}",
    "transport.client-certificate-refused": "{host} refuses the client's certificate: {reason}",
    "transport.proxy-authentication": "The proxy {host} requires a user name and a password.",
    "transport.timed-out": "{host} did not answer in time.",
    "transport.connection-lost": "The connection to {host} was lost: {reason}",
    "transport.truncated": "The answer of {host} is incomplete: {reason}",
    "transport.malformed": "The answer of {host} cannot be understood: {reason}",
    "transport.too-large": "The answer of {host} was refused: {reason}",
    "transport.too-slow": "The answer of {host} was given up: {reason}",
    "transport.unsupported-option": "{transport} does not support the option {option}; nothing was sent.",
    "transport.plain-http":
        "Credentials are not sent to {host}: without https, anyone on the network can read them.",
    "transport.foreign-link": "A link of the service at {service} leads to {origin}, and was not followed.",
    "transport.insecure-link":
        "A link of the service at {service} leads to {origin}, which is not encrypted, and was not followed.",
    "service.bad-request": "The service does not understand the request: {message}",
    "service.unauthorized": "The service requires a sign-in.",
    "service.forbidden": "The service does not allow that: {message}",
    "service.not-found": "Not found: {message}",
    "service.method-not-allowed": "This operation is not possible here: {message}",
    "service.not-acceptable": "The service has no format that this client reads: {message}",
    "service.exists-or-conflicts": "It conflicts with data of the service: {message}",
    "service.gone": "The resource was removed: {message}",
    "service.precondition-failed": "A condition of the request does not hold: {message}",
    "service.too-large": "The request is too large: {message}",
    "service.url-too-long": "The query is too long.",
    "service.unsupported-media-type": "The service does not read this format: {message}",
    "service.unprocessable": "The service refuses the values: {message}",
    "service.locked": "It is locked by somebody else: {message}",
    "service.failed-dependency": "A request that this one depends on was refused.",
    "service.precondition-required": "The service requires the version that is changed.",
    "service.too-many-requests": "The service gets too many requests.",
    "service.internal": "The service failed: {message}",
    "service.not-implemented": "The service cannot do that: {message}",
    "service.not-loaded": "{target} is not on this device, or not for these entities.",
    "service.not-loaded.recovery": "Download it by a defining query: {query}",
    "service.bad-gateway": "A system behind the service did not answer.",
    "service.unavailable": "The service is not available at the moment.",
    "service.gateway-timeout": "A system behind the service did not answer in time.",
    "service.refused": "The service refused ({status}): {message}",
    "service.failed": "The service failed ({status}): {message}",
    "service.changed-by-others": "{type} was changed by somebody else.",
    "service.repeat-expired": "It is unknown whether the change was made before.",
    "answer.web-page": "A web page came instead of data: perhaps a sign-in page or a proxy.",
    "answer.media-type": "The answer is in a format that cannot be read: {reason}",
    "answer.malformed": "The answer cannot be read: {reason}",
    "answer.unknown-context": "The answer does not fit the metadata: {reason}",
    "answer.redirect": "The service has moved: {reason}",
    "answer.too-large": "The answer is too large: {reason}",
    "metadata.not-found": "There is no OData service at {url}.",
    "metadata.unauthorized": "{url} requires a sign-in.",
    "metadata.forbidden": "{url} may not be read by this user.",
    "metadata.web-page": "{url} answered with a web page: perhaps a sign-in page or a proxy.",
    "metadata.not-odata": "{url} is not an OData service.",
    "metadata.redirected": "{url} has moved to {reason}.",
    "metadata.incomplete": "The metadata of {url} is not complete.",
    "metadata.invalid": "The metadata of {url} cannot be read: {reason}",
    "metadata.refused": "{url} refused to give its metadata: {reason}",
    "request.unsupported-by-service": "The service does not support {feature} {property}, as its metadata says.",
    "request.unexpected-answer": "{reason}",
    "request.answered-later": "{reason}",
    "request.unknown-type": "{reason}",
    "request.generated-metadata": "{reason}",
    "request.unknown-set": "{reason}",
    "request.unknown-operation": "{reason}",
    "request.ambiguous-set": "{reason}",
    "request.unanswered": "{reason}",
    "request.not-addressable": "{reason}",
    "query.unsupported": "{reason}",
    "query.unknown-name": "{reason}",
    "query.syntax": "{reason}",
    "query.type": "{reason}",
    "query.limit": "{reason}",
    "entity.not-loaded": "{reason}",
    "entity.unknown-property": "{reason}",
    "entity.type-mismatch": "{reason}",
    "entity.malformed": "{reason}",
    "oauth.sign-in-again": "The sign-in has ended.",
    "oauth.denied": "The sign-in was refused.",
    "oauth.state-mismatch": "The response to the sign-in belongs to another request.",
    "oauth.issuer-mismatch": "The answer to the sign-in comes from another authorization server.",
    "oauth.no-code": "The sign-in was not finished.",
    "oauth.expired": "The sign-in was not finished in time.",
    "oauth.expired.recovery": "Begin the sign-in again.",
    "oauth.sign-in-again.recovery": "Sign in again.",
    "oauth.no-code.recovery": "Begin the sign-in again.",
    "oauth.insecure-endpoint.recovery": "Give the https address of the authorization server.",
    "transfer.queue-limit.recovery": "Give a limit within the range.",
    "transfer.chunk-size.recovery": "Give a size within the range.",
    "configuration.unusable-identity.recovery": "Give a certificate and its key as PEM or PKCS#12, and its password.",
    "store.key-unavailable.recovery": "Open the store with the secret store that it was made with.",
    "store.wrong-key.recovery": "Give the key or passphrase that the store was made with.",
    "secret.short-passphrase.recovery": "Take a longer passphrase: several words are easy to keep in mind.",
    "secret.exposed.recovery": "Take the access away from the others, and consider a new secret.",
    "secret.wrong-key.recovery": "Give the key or passphrase that it was made with.",
    "database.wrong-key.recovery": "Give the key or passphrase that it was made with.",
    "storage.wrong-key.recovery": "Give the key that it was made with.",
    "persistence.wrong-key.recovery": "Give the key that it was made with.",
    "log.wrong-key.recovery": "Give the key that it was made with.",
    "vault.wrong-password.recovery": "Enter the password again.",
    "vault.locked.recovery": "Open the vault with its password.",
    "store.disk-full.recovery": "Free some space and try again. Complete pages are kept.",
    "store.opened-on-full-device.recovery": "Free some space, close the store and open it again.",
    "store.newer-version.recovery": "Install the newer version.",
    "database.newer-version.recovery": "Install the newer version.",
    "database.key-in-doubt.recovery": "Keep both keys, check the device, and change the key again.",
    "storage.key-in-doubt.recovery": "Keep both keys, check the device, and change the key again.",
    "offline.endless.recovery":
        "If the service really has so much data, raise the limit of the download. Otherwise, tell the operator of the service.",
    "transport.unsupported-option.recovery": "Use another transport, or leave the option out.",
    "transport.plain-http.recovery": "Use the https address of the service, or allow plain http for it.",
    "transport.foreign-link.recovery":
        "If the address belongs to the service, allow links to it. Otherwise, tell the operator of the service.",
    "transport.insecure-link.recovery":
        "Tell the operator of the service: its links must begin with https, as its address does.",
    "transport.too-large.recovery": "Tell the operator of the service: a repeat gets the same response.",
    "transport.too-slow.recovery": "Try again later.",
    "object.not-found.recovery": "Synchronize, or check the key.",
    "object.attribute-missing.recovery": "Correct the row at the service.",
    "object.not-saved.recovery": "Save the object first.",
    "object.already-submitted.recovery": "Wait for the answer of the service.",
    "object.package-mismatch.recovery": "Install the version of the app that fits the service.",
    "object.invalid-package.recovery": "Generate the code again.",
    "object.invalid-query.recovery": "Generate the code again.",
    "object.synchronization-disabled.recovery": "Switch synchronization on, then try again.",
    "object.pending-changes.recovery": "Synchronize, or cancel the changes.",
    "object.no-log-service.recovery": "Read the records on this device.",
    "object.no-such-entity.recovery": "Check the name against the metadata of the package.",
    "object.abstract-entity.recovery": "Name a type that derives from it.",
    "object.no-such-attribute.recovery": "Check the name against the metadata of the package.",
    "object.no-such-operation.recovery": "Check the name against the metadata of the package.",
    "object.no-such-parameter.recovery": "Check the name against the metadata of the package.",
    "object.missing-argument.recovery": "Give the argument a value.",
    "object.invalid-type.recovery": "Give a value of the type of the attribute.",
    "object.stream-not-open.recovery": "Open the value first.",
    "object.stream-not-closed.recovery": "Close the value first.",
    "object.append-only.recovery": "Write the whole value again.",
    "object.over-length.recovery": "Announce the number of bytes that are written, or none.",
    "object.not-at-character.recovery": "Use the position at which a character begins.",
    "offline.busy.recovery": "Wait until it is done; reading and editing work meanwhile.",
    "offline.still-open.recovery": "Close the store in this app and in every other program, then try again.",
    "offline.store-exists.recovery": "Open the existing store.",
    "offline.no-store.recovery": "Create a store first.",
    "offline.invalid-query.recovery": "Correct the query, or give its parameter a value.",
    "offline.key-needed.recovery": "Look at the service for the key, and accept the change with it.",
    "offline.already-sent.recovery": "Wait for its answer.",
    "offline.in-change-set.recovery": "Undo the whole change set, or change the entity again.",
    "offline.not-connected.recovery": "Open the store with a connection to its service.",
    "offline.changes-wait.recovery": "Send the changes, keep them or discard them, then change the user.",
    "offline.local-entities-remain.recovery":
        "Activate the drafts, remove them or discard them, then change the user.",
    "offline.upload-failed.recovery": "Let the previous user sign in and settle the changes, or discard them.",
    "offline.queue-held.recovery":
        "Check the service. Send the changes if they are missing there, or undo them.",
    "offline.without-place.recovery": "Read the change in the error archive, and discard it.",
    "recovery.repair": "Repair the data or download them again, and keep a copy of the damaged files.",
    "recovery.checkDevice": "Check the device: free space, access rights, the disk.",
    "recovery.none": "No action is needed.",
    "recovery.retryLater": "Try again later.",
    "recovery.checkConnection": "Check the network connection and the address.",
    "recovery.checkCertificate": "Do not continue until the operator of the service has confirmed the certificate.",
    "recovery.signIn": "Sign in again, or ask for the right to do this.",
    "recovery.correctRequest": "Correct the values and try again.",
    "recovery.refresh": "Read the data again.",
    "recovery.resolveConflict": "Read the other version and decide which one to keep.",
    "recovery.avoid": "Use another way: this service does not support the operation.",
    "recovery.lookBeforeRepeating": "Check whether the change was made before you repeat it.",
    "recovery.checkAddress": "Check the address, and whether a sign-in page or a proxy is on the way.",
    "recovery.contactSupport": "Tell the operator of the service. The request has the id {request} in the logs.",
]

/// The codes whose message is the reason alone, by their first part.
private let levels: [String: String] = [
    "oauth": "insecure-endpoint refused invalid-response invalid-metadata",
    "download": "refused wrong-part",
    "transfer": "queue-limit chunk-size unreadable-file file-changed",
    "configuration": "unusable-identity unusable-certificates http2-with-own-trust",
    "query": "overflow pattern",
    "model": "duplicate-name unknown-type circular no-type",
    "csdl": "invalid",
    "xml": "invalid",
    "json": "invalid",
    "value": "malformed malformed-geo invalid",
    "payload": "malformed service no-service-document unknown-type too-large unsupported batch",
    "request": "call-version unknown-parameter missing-argument unsupported-argument",
    "secret": """
    key-length key-digit empty-passphrase short-passphrase exposed key-file derivation-parameters salt-length \
    no-memory damaged wrong-kind-of-key wrong-key password-hash password-length reference
    """,
    "vault": """
    illegal-name too-long exists no-key unsealable exposed no-file system no-home unknown-vault locked \
    wrong-password destroyed weak-password empty-password negative-number full keys-missing older-copy \
    damaged unsupported-format busy cancelled
    """,
    "database": """
    not-found exists not-encrypted no-database newer-version damaged wrong-key wrong-kind-of-key \
    key-in-doubt not-unlocked busy system no-encryption
    """,
    "storage": "not-found wrong-key key-in-doubt unusable closed database undecodable unencodable",
    "generator": """
    unknown-set unknown-type illegal-name name-taken too-many-files nothing metadata package unknown-group app-name
    """,
    "otlp": "invalid-endpoint plain-http",
    "server": "cannot-listen unusable-certificate configuration folder folder-not-empty bad-backup",
    "state": """
    missing already-exists changed setting-not-editable limit-exceeded newer-schema older-schema sealed-value \
    unavailable damaged unsupported keys conformance
    """,
    "feed": "unknown-application unknown suspended not-suspended too-few-users",
    "destination": "credentials",
    "device-proof": "malformed signature other-request nonce other-key used",
    "certificate-request": "too-long malformed key signature",
    "store": """
    not-found wrong-key unusable-key key-unavailable protection-differs no-store newer-version disk-full opened-on-full-device locked \
    read-only damaged constraint device database value
    """,
    "file": """
    not-found replaced no-database encrypted-or-damaged locked read-only no-access unknown-view unknown-column \
    side-file database
    """,
    "cache": "capacity no-model other-model unknown-set foreign-type key-missing full",
    "search": "invalid-pattern too-long timed-out",
    "persistence": """
    key-missing wrong-key wrong-kind-of-key other-policy unknown-format removed illegal-name too-large \
    damaged unencodable undecodable folder-in-use exposed busy cancelled system key-store
    """,
    "log": "system key-missing wrong-key not-encrypted unknown-format busy unwritable limits",
    "rights": "unknown-set filter unknown-value filter-of-all-sets filter-of-operation verbs-of-operation",
    "object": """
    not-found attribute-missing not-saved already-submitted package-mismatch invalid-package invalid-query \
    no-such-entity abstract-entity no-such-attribute no-such-operation no-such-parameter missing-argument \
    synchronization-disabled pending-changes no-log-service \
    invalid-type stream-not-open stream-not-closed append-only over-length not-at-character
    """,
    "mobile": """
    empty-parameter invalid-address plain-http invalid-configuration ambiguous-application unknown-application \
    unknown-security outdated-app unreachable untrusted invalid-answer refused too-many-requests not-registered \
    already-registered wrong-user sign-in-refused sign-in-cancelled sign-in-failed activation-code-invalid \
    activation-code-used activation-code-needed captcha-needed other-server setting-read-only setting-missing \
    unsupported locked wiped passcode-cancelled wrong-passcode weak-passcode unknown-user already-onboarded \
    device store timed-out cancelled
    """,
    "offline": """
    store-exists no-store busy file-access invalid-query query-exists unknown-name already-sent \
    in-change-set key-needed invalid-client-model not-connected connection-outdated model-outdated cannot-attach \
    without-place option-differs option-fixed origin-lost damaged-queue queue-held query-refused changes-wait \
    local-entities-remain upload-failed endless still-open
    """,
]

private let spoken: [String: String] = Dictionary(
    levels.flatMap { level, names in names.split(separator: " ").map { ("\(level).\($0)", "{reason}") } },
    uniquingKeysWith: { $1 })
