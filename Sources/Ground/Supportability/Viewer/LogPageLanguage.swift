import Foundation

/// The languages of ``LogPageFormatter``; the raw value is the language tag (BCP 47).
public enum LogPageLanguage: String, CaseIterable, Sendable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"
    /// French.
    case french = "fr"
    /// Spanish.
    case spanish = "es"
    /// Portuguese.
    case portuguese = "pt"
    /// Japanese.
    case japanese = "ja"
    /// Russian.
    case russian = "ru"
    /// Traditional Chinese.
    case traditionalChinese = "zh-Hant"

    /// The first available language of the user's preferred languages; otherwise English.
    public static var preferred: LogPageLanguage { preferred(among: Locale.preferredLanguages) }

    static func preferred(among tags: [String]) -> LogPageLanguage {
        for tag in tags {
            let language = Locale.Language(identifier: tag)
            if language.languageCode?.identifier == "zh" {
                // Simplified Chinese uses another script.
                let places = ["TW", "HK", "MO"]
                let isTraditional =
                    language.script.map { $0.identifier == "Hant" }
                    ?? places.contains(language.region?.identifier ?? "")
                if isTraditional { return .traditionalChinese }
                continue
            }
            if let known = allCases.first(where: { $0.rawValue == language.languageCode?.identifier }) { return known }
        }
        return .english
    }
}

/// The labels and hints of the page in one language.
struct LogPageTexts {
    var title: String
    /// The names of the severities, from emergency to debug.
    var levels: [String]
    /// The labels of the nine fields of a header.
    var fields: [String]
    /// The labels of the columns: time, level, component, process, place, message.
    var columns: [String]
    var select: String
    var level: String
    var levelHint: String
    var search: String
    var searchHint: String
    var all: String
    var allHint: String
    var save: String
    var saveHint: String
    var shown: String

    /// Creates the texts of a language. The members of a list are separated by bars.
    init(_ language: LogPageLanguage) {
        let texts = Self.table[language] ?? []
        func text(_ index: Int) -> String { texts.indices.contains(index) ? texts[index] : "" }
        func list(_ index: Int) -> [String] { text(index).split(separator: "|").map(String.init) }
        title = text(0)
        levels = list(1)
        fields = list(2)
        columns = list(3)
        select = text(4)
        level = text(5)
        levelHint = text(6)
        search = text(7)
        searchHint = text(8)
        all = text(9)
        allHint = text(10)
        save = text(11)
        saveHint = text(12)
        shown = text(13)
    }

    private static let table: [LogPageLanguage: [String]] = [
        .english: [
            "Log", "Emergency|Alert|Critical|Error|Warning|Notice|Info|Debug",
            "OS version|App name|App version|Third party|HW version|User|Time zone|Language|Base URL",
            "Time|Level|Component|Process|Place|Message", "Select entry", "Level", "Shows this level and graver ones",
            "Search", "Shows only entries with this text", "Select all", "Selects all entries that are shown",
            "Save selection", "Saves the selected entries as a packed text file", "Entries shown:",
        ],
        .german: [
            "Protokoll", "Notfall|Alarm|Kritisch|Fehler|Warnung|Hinweis|Information|Fehlersuche",
            "Betriebssystem|App|App-Version|Fremdanteile|Gerät|Benutzer|Zeitzone|Sprache|Basis-URL",
            "Zeit|Stufe|Komponente|Prozess|Stelle|Meldung", "Eintrag auswählen", "Stufe",
            "Zeigt diese Stufe und schwerere", "Suche", "Zeigt nur Einträge mit diesem Text", "Alle auswählen",
            "Wählt alle gezeigten Einträge aus", "Auswahl sichern",
            "Sichert die ausgewählten Einträge als gepackte Textdatei", "Gezeigte Einträge:",
        ],
        .french: [
            "Journal", "Urgence|Alerte|Critique|Erreur|Avertissement|Remarque|Information|Débogage",
            "Version du système|Application|Version de l’application|Composants tiers|Matériel|Utilisateur"
                + "|Fuseau horaire|Langue|URL de base",
            "Heure|Niveau|Composant|Processus|Endroit|Message", "Sélectionner l’entrée", "Niveau",
            "Affiche ce niveau et les plus graves", "Recherche", "Affiche seulement les entrées contenant ce texte",
            "Tout sélectionner", "Sélectionne toutes les entrées affichées", "Enregistrer la sélection",
            "Enregistre les entrées sélectionnées dans un fichier texte compressé", "Entrées affichées :",
        ],
        .spanish: [
            "Registro", "Emergencia|Alerta|Crítico|Error|Advertencia|Aviso|Información|Depuración",
            "Versión del sistema|Aplicación|Versión de la aplicación|Terceros|Hardware|Usuario|Zona horaria|Idioma"
                + "|URL base",
            "Hora|Nivel|Componente|Proceso|Lugar|Mensaje", "Seleccionar entrada", "Nivel",
            "Muestra este nivel y los más graves", "Buscar", "Muestra solo las entradas con este texto",
            "Seleccionar todo", "Selecciona todas las entradas mostradas", "Guardar selección",
            "Guarda las entradas seleccionadas como archivo de texto comprimido", "Entradas mostradas:",
        ],
        .portuguese: [
            "Registro", "Emergência|Alerta|Crítico|Erro|Aviso|Nota|Informação|Depuração",
            "Versão do sistema|Aplicativo|Versão do aplicativo|Terceiros|Hardware|Usuário|Fuso horário|Idioma|URL base",
            "Hora|Nível|Componente|Processo|Local|Mensagem", "Selecionar entrada", "Nível",
            "Mostra este nível e os mais graves", "Procurar", "Mostra apenas as entradas com este texto",
            "Selecionar tudo", "Seleciona todas as entradas mostradas", "Salvar seleção",
            "Salva as entradas selecionadas como arquivo de texto compactado", "Entradas mostradas:",
        ],
        .japanese: [
            "ログ", "緊急|警報|重大|エラー|警告|通知|情報|デバッグ",
            "OSバージョン|アプリ名|アプリのバージョン|サードパーティ|ハードウェア|ユーザー|タイムゾーン|言語|ベースURL",
            "時刻|レベル|コンポーネント|プロセス|場所|メッセージ", "項目を選択", "レベル", "このレベルとより重大な項目を表示します", "検索",
            "このテキストを含む項目だけを表示します", "すべて選択", "表示中の項目をすべて選択します", "選択項目を保存",
            "選択した項目を圧縮テキストファイルとして保存します", "表示中の項目：",
        ],
        .russian: [
            "Журнал", "Авария|Тревога|Критично|Ошибка|Предупреждение|Уведомление|Информация|Отладка",
            "Версия ОС|Приложение|Версия приложения|Сторонние компоненты|Оборудование|Пользователь|Часовой пояс|Язык"
                + "|Базовый URL",
            "Время|Уровень|Компонент|Процесс|Место|Сообщение", "Выбрать запись", "Уровень",
            "Показывает этот уровень и более серьёзные", "Поиск", "Показывает только записи с этим текстом",
            "Выбрать все", "Выбирает все показанные записи", "Сохранить выбранное",
            "Сохраняет выбранные записи в сжатый текстовый файл", "Показано записей:",
        ],
        .traditionalChinese: [
            "記錄", "緊急|警示|嚴重|錯誤|警告|通知|資訊|偵錯",
            "作業系統版本|應用程式名稱|應用程式版本|第三方元件|硬體版本|使用者|時區|語言|基底 URL",
            "時間|層級|元件|處理程序|位置|訊息", "選取項目", "層級", "顯示此層級及更嚴重的項目", "搜尋", "只顯示包含此文字的項目",
            "全選", "選取所有顯示的項目", "儲存選取項目", "將選取的項目儲存為壓縮的文字檔", "顯示的項目：",
        ],
    ]
}
