// What the console takes of htm: a tag of templates.
declare const htm: {bind<N>(h: (...given: any[]) => N): (strings: TemplateStringsArray, ...values: unknown[]) => N};
export default htm;
